# The server with the bundled models: docker build -t spectr . && docker run -p 8080:8080 spectr
FROM debian:12-slim AS build
COPY tools/packages.txt /spectr/tools/
RUN apt-get update && apt-get install -y --no-install-recommends \
    $(sed -n 's/^build  *\([^ ]*\).*/\1/p' /spectr/tools/packages.txt)
COPY . /spectr
RUN cmake -S /spectr -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DSPECTR_TESTS=OFF \
    && cmake --build /build --target spectr_cli && cmake --install /build --prefix /usr/local

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends coinor-libclp1 libpcre2-8-0 libutf8proc2 libfmt9 \
    libhwy1 libsqlite3-0 libssl3 libspdlog1.10 && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/bin/spectr /usr/local/bin/spectr-lab /usr/local/bin/
COPY --from=build /usr/local/share/spectr /usr/local/share/spectr
# Where what passes cost is kept; mount a volume there and it is measured once only.
ENV XDG_CACHE_HOME=/var/cache
RUN install -d -o nobody -g nogroup /var/cache/spectr
USER nobody
EXPOSE 8080
# Other machines reach a container: give it a key (-e LLAMA_API_KEY=…) before you let them.
ENTRYPOINT ["/usr/local/bin/spectr", "serve", "--host", "0.0.0.0"]
