# make test      the tests
# make install   the command, with its manual pages
# make site      the documentation site in site/public (with Python)
# make release   all files of a release in dist/, and their checksums: the four below
# make archives  the command for all platforms (with GNU tar), the source, its parts and their licences
# make vsix      the extension of Visual Studio Code in dist/ (with npm)
# make wheels    Python packages for all platforms in dist/ (with Python 3.11)
# make sums      checksums of all of these, which have to be there
# make sign      a signature of these checksums (with cosign)
# make files     print the names of the files that have checksums
# make image     a container image of the command (with Podman or Docker)
# make version   print the version; go-version, that of Go
# make notes     print what the list of changes says of the version

VERSION    := $(shell sed -n 's/^const Version = "\(.*\)"/\1/p' version.go)
GO_VERSION := $(shell sed -n 's/^go //p' go.mod)
PLATFORMS  := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
PREFIX     ?= /usr/local
ENGINE     ?= $(or $(shell command -v podman),docker)
IMAGE      ?= odes:$(VERSION)
PYTHON     ?= python3

export CGO_ENABLED = 0
# The same source gives the same bytes, wherever it is built. Archives do not depend on the clone either, so they
# are built with -buildvcs=false.
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
BUILD  := go build -trimpath -ldflags='-s -w -buildid= -X main.commit=$(COMMIT)'

.PHONY: all version go-version notes test vet install site release archives vsix wheels sums files sign image clean \
	$(PLATFORMS)

all:
	$(BUILD) -o odes ./cmd/odes

version:
	@echo $(VERSION)

go-version:
	@echo $(GO_VERSION)

notes:
	@awk '/^## / { inside = index($$0, "[$(VERSION)]"); next } inside' CHANGELOG.md

test:
	go test -timeout 30m ./...

# On every platform that is released, whatever this one is.
vet:
	@for p in $(PLATFORMS); do echo "vet $$p"; GOOS=$${p%/*} GOARCH=$${p#*/} go vet ./... || exit 1; done

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install odes $(DESTDIR)$(PREFIX)/bin
	install -m 644 docs/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1

# The pages are found and written by the program in site; Sphinx, from the packages that requirements.txt pins by
# their hashes, makes HTML of them.
SPHINX := site/.build/venv/bin/sphinx-build

site: all $(SPHINX)
	cd site && go run . && go run ./playground
	rm -rf site/public
	$(SPHINX) -q -W --keep-going -E -a -j auto -c site -d site/.build/doctrees site/.build/content site/public

$(SPHINX): site/requirements.txt
	$(PYTHON) -m venv --clear site/.build/venv
	site/.build/venv/bin/pip install -q --disable-pip-version-check --require-hashes -r $<
	touch $@

release:
	$(MAKE) archives wheels vsix
	$(MAKE) sums

archives: $(PLATFORMS)
	git archive --prefix=odes_$(VERSION)/ HEAD | gzip -n9 > dist/odes_$(VERSION)_source.tar.gz
	go run ./cmd/release sbom > dist/odes_$(VERSION).spdx.json
	cp THIRD_PARTY_NOTICES dist/

sums:
	cd dist && sha256sum $$(cd .. && go run ./cmd/release files) > SHA256SUMS.part && mv SHA256SUMS.part SHA256SUMS

files:
	@go run ./cmd/release files | sed 's|^|dist/|'

# The packager is pinned; what goes into the package is pinned by its lock file.
VSCE := @vscode/vsce@3.9.2

vsix:
	mkdir -p dist
	cd editors/vscode && npm ci --omit=dev --ignore-scripts --no-audit --no-fund
	cd editors/vscode && npx --yes $(VSCE) package --allow-missing-repository --out ../../dist/odes_$(VERSION).vsix

wheels:
	$(PYTHON) python/wheels.py dist

# In a workflow the signature is that of its identity; elsewhere cosign asks for one.
sign:
	cosign sign-blob --yes --bundle dist/SHA256SUMS.sigstore.json dist/SHA256SUMS

image:
	$(ENGINE) build --build-arg GO=$(GO_VERSION) --build-arg VERSION=$(VERSION) \
		--build-arg COMMIT=$(COMMIT) -t $(IMAGE) -f Containerfile .

# Processors without AVX2, and those that are not amd64, run the generic kernels: same bits, more time.
$(PLATFORMS): all
	$(eval NAME := odes_$(VERSION)_$(subst /,_,$@))
	rm -rf dist/$(NAME)
	mkdir -p dist/$(NAME)/completion
	GOOS=$(@D) GOARCH=$(@F) $(BUILD) -buildvcs=false -o dist/$(NAME)/ ./cmd/odes
	cp -r README.md LICENSE THIRD_PARTY_NOTICES CHANGELOG.md docs examples dist/$(NAME)/
	for s in bash zsh fish; do ./odes completion $$s > dist/$(NAME)/completion/odes.$$s || exit 1; done
	if [ $(@D) = windows ]; then go run ./cmd/release zip dist/$(NAME) dist/$(NAME).zip; else \
		cd dist && tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=2026-01-01 --mode=a+rX,u+w,go-w \
		-c $(NAME) | gzip -n9 > $(NAME).tar.gz; fi
	rm -r dist/$(NAME)

clean:
	rm -rf dist odes site/.build site/public
