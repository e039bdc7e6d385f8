package odes

// Version is the version of the module and its command. It is written here
// alone: what has to repeat it (manual pages, the editors' extension, the list
// of changes) is compared with it by TestVersion.
const Version = "0.2.0"
