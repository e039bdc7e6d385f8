package lsp

import (
	"cmp"
	"encoding/json"
)

// The parts of the Language Server Protocol 3.17 that the server speaks, with
// the protocol's own names.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type markup struct {
	Kind  string `json:"kind"` // "markdown" or "plaintext"
	Value string `json:"value"`
}

type documentID struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
}

// documentParams are those of requests about a document.
type documentParams struct {
	TextDocument documentID `json:"textDocument"`
}

// placeParams are those of requests about a place.
type placeParams struct {
	TextDocument documentID `json:"textDocument"`
	Position     position   `json:"position"`
}

type rangeParams struct {
	TextDocument documentID `json:"textDocument"`
	Range        textRange  `json:"range"`
}

type referenceParams struct {
	placeParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

type renameParams struct {
	placeParams
	NewName string `json:"newName"`
}

type actionParams struct {
	rangeParams
	Context struct {
		Only []string `json:"only"`
	} `json:"context"`
}

type openParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type changeParams struct {
	TextDocument   documentID `json:"textDocument"`
	ContentChanges []struct {
		Range *textRange `json:"range"`
		Text  string     `json:"text"`
	} `json:"contentChanges"`
}

type cancelParams struct {
	ID json.RawMessage `json:"id"`
}

// initializeParams are what a client says about itself, as far as it matters here.
type initializeParams struct {
	RootURI          string `json:"rootUri"`
	WorkspaceFolders []struct {
		URI string `json:"uri"`
	} `json:"workspaceFolders"`
	Capabilities struct {
		General struct {
			PositionEncodings []string `json:"positionEncodings"`
		} `json:"general"`
		Workspace struct {
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
		TextDocument struct {
			Hover struct {
				ContentFormat []string `json:"contentFormat"`
			} `json:"hover"`
			Completion struct {
				CompletionItem struct {
					SnippetSupport bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
			DocumentSymbol struct {
				Hierarchical bool `json:"hierarchicalDocumentSymbolSupport"`
			} `json:"documentSymbol"`
			CodeAction struct {
				Literal *struct{} `json:"codeActionLiteralSupport"`
			} `json:"codeAction"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

type diagnostic struct {
	Range    textRange     `json:"range"`
	Severity int           `json:"severity"`
	Code     string        `json:"code,omitempty"`
	Source   string        `json:"source"`
	Message  string        `json:"message"`
	Tags     []int         `json:"tags,omitempty"`
	Related  []relatedInfo `json:"relatedInformation,omitempty"`
}

type relatedInfo struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

const tagUnnecessary = 1

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type hover struct {
	Contents markup    `json:"contents"`
	Range    textRange `json:"range"`
}

type highlight struct {
	Range textRange `json:"range"`
	Kind  int       `json:"kind"` // 2 read, 3 write
}

type symbol struct {
	Name           string    `json:"name"`
	Detail         string    `json:"detail,omitempty"`
	Kind           int       `json:"kind"`
	Range          textRange `json:"range"`
	SelectionRange textRange `json:"selectionRange"`
	Children       []symbol  `json:"children,omitempty"`
}

// flatSymbol is for clients without support for hierarchies.
type flatSymbol struct {
	Name     string   `json:"name"`
	Kind     int      `json:"kind"`
	Location location `json:"location"`
}

type folding struct {
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	Kind      string `json:"kind,omitempty"`
}

type completionItem struct {
	Label         string   `json:"label"`
	Kind          int      `json:"kind"`
	Detail        string   `json:"detail,omitempty"`
	Documentation *markup  `json:"documentation,omitempty"`
	SortText      string   `json:"sortText,omitempty"`
	Format        int      `json:"insertTextFormat,omitempty"` // 2: a snippet
	Edit          textEdit `json:"textEdit"`
	// Data is what the documentation is asked for with: the topic and name of help.
	Data []string `json:"data,omitempty"`
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type signatureHelp struct {
	Signatures      []signature `json:"signatures"`
	ActiveSignature int         `json:"activeSignature"`
	ActiveParameter int         `json:"activeParameter"`
}

type signature struct {
	Label         string      `json:"label"`
	Documentation *markup     `json:"documentation,omitempty"`
	Parameters    []parameter `json:"parameters"`
}

type parameter struct {
	Label string `json:"label"`
}

type codeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []diagnostic  `json:"diagnostics,omitempty"`
	Preferred   bool          `json:"isPreferred,omitempty"`
	Edit        workspaceEdit `json:"edit"`
}

type inlayHint struct {
	Position position `json:"position"`
	Label    string   `json:"label"`
	Kind     int      `json:"kind"` // 1: a type
	Tooltip  string   `json:"tooltip,omitempty"`
}

type prepared struct {
	Range       textRange `json:"range"`
	Placeholder string    `json:"placeholder"`
}

type semanticTokens struct {
	Data []int `json:"data"`
}

// symbolOf returns the number of a symbol of a kind. What has no row is shown as a let.
func symbolOf(kind string) int { return cmp.Or(shown[kind].symbol, shown["let"].symbol) }

// shown says how a client shows a name, by its kind. symbol and completion are numbers of the protocol, 0 for what is
// never one. token is a member of [tokenTypes], "" where the place of the name decides.
var shown = map[string]struct {
	symbol, completion int
	token              string
}{
	"const":         {14, 21, "variable"},
	"param":         {8, 5, "parameter"},
	"argument":      {0, 6, "parameter"},
	"state":         {13, 6, "variable"},
	"discrete":      {13, 6, "variable"},
	"control":       {13, 6, "variable"},
	"alg":           {13, 6, "variable"},
	"time":          {13, 6, "variable"},
	"let":           {13, 6, "variable"},
	"output":        {7, 10, "variable"},
	"function":      {12, 3, "function"},
	"event":         {24, 23, "event"},
	"reaction":      {25, 0, "event"},
	"experiment":    {5, 7, "class"},
	"data table":    {23, 22, "class"},
	"column":        {8, 5, "property"},
	"observation":   {7, 0, "variable"},
	"objective":     {7, 6, "variable"},
	"constraint":    {17, 0, "variable"},
	"unit":          {11, 11, "type"},
	"module":        {2, 9, "namespace"},
	"component":     {19, 9, "namespace"},
	"loop variable": {0, 6, "variable"},
	"dimension":     {0, 6, "parameter"},
	"model":         {2, 0, ""},
	"setting":       {20, 10, ""},
	"settings":      {3, 0, ""},
	"equation":      {13, 0, ""},
	"keyword":       {0, 14, ""},
	"value":         {0, 12, ""},
	"constant":      {0, 21, ""},
	"file":          {0, 17, ""},
	"folder":        {0, 19, ""},
}
