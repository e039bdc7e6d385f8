# make test      the tests
# make install   the command, with its manual pages
# make release   archives for all platforms in dist/ (with GNU tar)

VERSION   := $(shell sed -n 's/^const Version = "\(.*\)"/\1/p' odes.go)
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
PREFIX    ?= /usr/local

export CGO_ENABLED = 0
# The same source gives the same bytes, wherever it is built.
BUILD := go build -trimpath -ldflags='-s -w -buildid='

.PHONY: all test vet install release clean $(PLATFORMS)

all:
	$(BUILD) -o odes ./cmd/odes

test:
	go test ./...

# On every platform that is released, whatever this one is.
vet:
	@for p in $(PLATFORMS); do echo "vet $$p"; GOOS=$${p%/*} GOARCH=$${p#*/} go vet ./... || exit 1; done

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install odes $(DESTDIR)$(PREFIX)/bin
	install -m 644 docs/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1

release: $(PLATFORMS)
	cd dist && sha256sum *.tar.gz > SHA256SUMS

# Processors without AVX2, and those that are not amd64, run the generic kernels: same bits, more time.
$(PLATFORMS):
	$(eval NAME := odes_$(VERSION)_$(subst /,_,$@))
	rm -rf dist/$(NAME)
	mkdir -p dist/$(NAME)/completion
	GOOS=$(@D) GOARCH=$(@F) $(BUILD) -o dist/$(NAME)/ ./cmd/odes
	cp -r README.md docs examples dist/$(NAME)/
	for s in bash zsh fish; do go run ./cmd/odes completion $$s > dist/$(NAME)/completion/odes.$$s || exit 1; done
	cd dist && tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=2026-01-01 -c $(NAME) | gzip -n9 > $(NAME).tar.gz
	rm -r dist/$(NAME)

clean:
	rm -rf dist odes
