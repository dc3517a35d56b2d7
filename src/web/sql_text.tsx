import type { JSX } from "hono/jsx/jsx-runtime";

/** A statement to copy: one click selects it, and where there is a clipboard, a button takes it there. */
export function Sql({ text }: { text: string }): JSX.Element {
  return (
    <div class="sql">
      <pre><code>{text}</code></pre>
      <button type="button" class="copy" data-copy hidden>Copy</button>
    </div>
  );
}

/** A sentence in which the statements can be copied, such as the cure of a problem. */
export function TextWithSql({ text }: { text: string }): JSX.Element {
  return (
    <>
      {splitSql(text).map((part) =>
        part.sql ? <Sql text={part.text} /> : (
          <p>
            <bdi>{part.text}</bdi>
          </p>
        )
      )}
    </>
  );
}

/** Splits a text into statements, from `select` to the semicolon outside of quotes, and what stands between them. */
export function splitSql(text: string): { text: string; sql: boolean }[] {
  return text
    .split(/(\bselect (?:'(?:[^']|'')*'|[^';])*;)/)
    .map((part, index) => ({ text: part.trim(), sql: index % 2 === 1 }))
    .filter((part) => part.text !== "");
}
