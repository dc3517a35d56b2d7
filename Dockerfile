# The monitor on its own. The database is beside it (compose.yaml) or elsewhere (DATABASE_URL); without one the program keeps
# its own PostgreSQL in /app/.uptuple.
FROM denoland/deno:2.9.6

WORKDIR /app
RUN install --directory --owner=deno --group=deno .uptuple
VOLUME /app/.uptuple

COPY . .
USER deno
# Exactly what deno.lock pins; nothing is downloaded at a start.
RUN deno install --frozen --entrypoint main.ts

ENV HOST=0.0.0.0 PORT=8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["deno", "eval", "const answer = await fetch(`http://127.0.0.1:${Deno.env.get('PORT')}/healthz`); Deno.exit(answer.ok ? 0 : 1)"]

CMD ["run", "-P", "--frozen", "--cached-only", "main.ts"]
