import { renderPage } from "./layout.tsx";

/**
 * Asks for the viewer token.
 *
 * @param options.next The path to go on to.
 * @param options.fault What was wrong with the last try.
 */
export function renderLogin(options: { next: string; fault?: string }): ReturnType<typeof renderPage> {
  const { next, fault } = options;
  return renderPage({
    title: "Sign in",
    live: false,
    children: (
      <section class="card login">
        <h1>Sign in</h1>
        <p>Whoever runs this monitor has the viewer token: it is in UPTUPLE_VIEWER_TOKEN.</p>
        <form method="post" action="/login">
          <input type="hidden" name="next" value={next} />
          <label for="token">Viewer token</label>
          <input
            id="token"
            name="token"
            type="password"
            autocomplete="current-password"
            required
            autofocus
            aria-invalid={fault === undefined ? null : "true"}
            aria-describedby={fault === undefined ? null : "fault"}
          />
          {fault !== undefined && <p class="fault" id="fault" role="alert">{fault}</p>}
          <button type="submit" class="primary">Sign in</button>
        </form>
      </section>
    ),
  });
}
