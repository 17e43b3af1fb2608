# The container image of a release: the static binary and nothing else, for linux/amd64 and linux/arm64. It is built from
# what packaging/build made: oci/amd64/gpulint and oci/arm64/gpulint.
#
#   docker run --rm -v "$PWD:/src:ro" ghcr.io/gpulint/gpulint check --fail-on warning
FROM scratch
ARG TARGETARCH
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="gpulint" \
      org.opencontainers.image.description="A policy-as-code linter for GPU deployments" \
      org.opencontainers.image.url="https://gpulint.github.io" \
      org.opencontainers.image.documentation="https://gpulint.github.io" \
      org.opencontainers.image.source="https://github.com/gpulint/gpulint" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --chmod=755 oci/${TARGETARCH}/gpulint /usr/local/bin/gpulint
# Nobody in particular; files that a run mounts must be readable by all.
USER 65532:65532
WORKDIR /src
ENTRYPOINT ["/usr/local/bin/gpulint"]
CMD ["check"]
