# The server with the bundled models: docker build -t spectr . && docker run -p 8080:8080 spectr
FROM debian:12-slim AS build
COPY tools/packages.txt /spectr/tools/
RUN apt-get update && apt-get install -y --no-install-recommends \
    $(sed -nE 's/^(build|server|bench|lab|gpu)  *([^ ]*).*/\2/p' /spectr/tools/packages.txt)
COPY . /spectr
# All components but two: the program needs no capi, and the image below lacks what mpi needs to run.
RUN cmake -S /spectr -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DSPECTR_TESTS=OFF \
    -DSPECTR_COMPONENTS="server;bench;lab;gpu;grammar;kernels" \
    && cmake --build /build --target spectr_cli && cmake --install /build --prefix /usr/local

FROM debian:12-slim
# docker build --build-arg VERSION=… --build-arg REVISION="$(git rev-parse HEAD)" fills in what a build knows.
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="spectr" \
      org.opencontainers.image.description="LLM inference server with lossless speculative decoding" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="docker.io/library/debian:12-slim" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
RUN apt-get update && apt-get install -y --no-install-recommends coinor-libclp1 libedit2 libpcre2-8-0 libutf8proc2 libfmt9 \
    libhwy1 libsqlite3-0 libssl3 libspdlog1.10 && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/bin/spectr /usr/local/bin/spectr-lab /usr/local/bin/
COPY --from=build /usr/local/share/spectr /usr/local/share/spectr
# Where what passes cost is kept; mount a volume there and it is measured once only.
ENV XDG_CACHE_HOME=/var/cache
RUN install -d -o nobody -g nogroup /var/cache/spectr
USER nobody
EXPOSE 8080
# Healthy once the models are loaded. The port is the server's own variable: a --port flag or TLS needs another check.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10m --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${LLAMA_ARG_PORT:-8080} && printf 'GET /health HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
# Other machines reach a container: give it a key (-e LLAMA_API_KEY=…) before you let them.
ENTRYPOINT ["/usr/local/bin/spectr", "serve", "--host", "0.0.0.0"]
