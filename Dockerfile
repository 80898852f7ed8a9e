# docker build -t nami .        docker run --rm -v "$PWD:/work" nami run model.nami --data data.json
FROM debian:bookworm-slim AS build
WORKDIR /nami
COPY scripts/setup.sh scripts/
RUN scripts/setup.sh build deb && rm -rf /var/lib/apt/lists/*
COPY . .
RUN JOBS=$(nproc) scripts/deb.sh build-deb

FROM debian:bookworm-slim
COPY --from=build /nami/build-deb/packages/*.deb /tmp/packages/
RUN apt-get update && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        /tmp/packages/libnami0_*.deb /tmp/packages/nami_*.deb /tmp/packages/python3-nami_*.deb librsvg2-2 && \
    rm -rf /tmp/packages /var/lib/apt/lists/*
RUN useradd --create-home nami
USER nami
WORKDIR /work
EXPOSE 8080
ENTRYPOINT ["nami"]
CMD ["--help"]
