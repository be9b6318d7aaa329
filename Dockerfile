# A base with Node and npm, from Docker Hub unless it is named: a mirror, a digest, or one of your own with a user "node".
ARG BASE=node:24-slim

FROM ${BASE} AS build
WORKDIR /app
# Which packages may run a script of their own when they are installed stands in package.json (allowScripts), for npm 11 and 12.
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY src ./src
RUN npm run build && chmod +x dist/cli.js && npm prune --omit=dev
# The image has a Node, so it does without the one that the repository brings. That one goes by its name, because other
# packages bring what they need as optional dependencies too, and --omit=optional would leave that out. npm keeps PGlite and
# types, because a package of production could use them; sources and tests of packages, and SQLite for other systems, serve nobody.
RUN cd node_modules \
  && rm -rf node-linux-* .bin/node @electric-sql @types node-addon-api better-sqlite3/deps better-sqlite3/src \
  && find better-sqlite3/prebuilds -type f ! -name "linux*-$(node -p process.arch).node" -delete \
  && find . ../dist \( -name '*.map' -o -name '*.ts' -o -name '*.cts' -o -name '*.mts' \) -type f -delete \
  && find . -name test -type d -prune -exec rm -rf {} +

FROM ${BASE}
ENV NODE_ENV=production \
  DATABASE_URL=file:/data/cronogram.db \
  HTTP_HOST=0.0.0.0 \
  HTTP_PORT=8787
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
COPY package.json LICENSE /app/
COPY drizzle /app/drizzle
# The pages that the server shows at /docs.
COPY docs /app/docs
# The volume takes over the owner of the folder that it covers.
RUN ln -s /app/dist/cli.js /usr/local/bin/cronogram && mkdir /data && chown node:node /data
USER node
# What is written goes beside the database, and nothing else need be writable: run it with a read-only root.
WORKDIR /data
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HTTP_PORT || 8787}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=8", "/app/dist/main.js"]
