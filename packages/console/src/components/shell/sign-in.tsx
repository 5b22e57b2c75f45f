import { Problem } from '@plinth/console-core/api/problem.js';
import { fetchEditorSession, fetchSession } from '@plinth/console-core/api/server.js';
import { type Role, session } from '@plinth/console-core/api/session.js';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';

/** The sign-in form. As an overlay, it keeps the page below and its input. */
export function SignIn(props: {
  readonly isOverlay?: boolean;
  readonly services: readonly string[];
  readonly onSignedIn: () => void;
}) {
  const { isOverlay = false, services, onSignedIn } = props;
  const field = useRef<HTMLInputElement>(null);
  const [error, setError] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const id = useId();
  useEffect(() => field.current?.focus(), []);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? '';
    if (token === '') return;
    setIsBusy(true);
    try {
      session.signIn(token, await roleOf(token, services));
      onSignedIn();
    } catch (failure) {
      setError(
        isUnauthorized(failure)
          ? 'Invalid token. Enter an admin token of this server.'
          : String(failure),
      );
      field.current?.focus();
    } finally {
      setIsBusy(false);
    }
  };
  const paste = async () => {
    if (field.current === null) return;
    field.current.value = await navigator.clipboard.readText();
    field.current.focus();
  };
  const form = (
    <form className="gate-card card stack" onSubmit={(event) => void submit(event)}>
      <Brand />
      <h1>{isOverlay ? 'Sign in again' : 'Sign in'}</h1>
      <p className="soft">
        {isOverlay
          ? 'Your token has expired or was revoked. Your work on this page is kept.'
          : 'Enter an admin token of this server, or a game data editor token. The token is kept in this tab and shared with other tabs of this browser.'}
      </p>
      <div className="field">
        <label htmlFor={id}>Token</label>
        <div className="row">
          <input
            ref={field}
            id={id}
            className="input mono grow"
            type="password"
            autoComplete="off"
            spellCheck={false}
            placeholder="apiv3_…"
            aria-invalid={error !== ''}
            aria-describedby={`${id}-error`}
          />
          {navigator.clipboard?.readText !== undefined && (
            <button type="button" className="button" onClick={() => void paste()}>
              Paste
            </button>
          )}
        </div>
        <div id={`${id}-error`} className="field-error" role="alert">
          {error}
        </div>
      </div>
      <button type="submit" className="button primary" disabled={isBusy}>
        {isBusy ? 'Signing in …' : 'Sign in'}
      </button>
      <p className="hint soft">
        No token? Create one on the server: <code>plinth token create console</code>
      </p>
    </form>
  );
  if (!isOverlay) return <main className="gate">{form}</main>;
  return (
    <div className="gate gate-overlay" role="dialog" aria-modal="true" aria-label="Sign in again">
      {form}
    </div>
  );
}

const isUnauthorized = (failure: unknown): boolean =>
  failure instanceof Problem && failure.status === 401;

/** Finds what a token permits. Throws `Problem`, with status 401 for an invalid token. */
async function roleOf(token: string, services: readonly string[]): Promise<Role> {
  try {
    await fetchSession(token);
    return 'admin';
  } catch (failure) {
    if (!isUnauthorized(failure) || !services.includes('gamedata')) throw failure;
    await fetchEditorSession(token);
    return 'editor';
  }
}

export function Brand() {
  return (
    <div className="row brand-line">
      <svg aria-hidden="true" width="28" height="28" viewBox="0 0 32 32">
        <rect width="32" height="32" rx="7" className="brand-ground" />
        <path
          d="M7 24h18v2.500H7zM9.500 20.500h13V23h-13zM11 6h10v2.500H11zM12.500 9.500h2v10h-2zM17.500 9.500h2v10h-2z"
          className="brand-sign"
        />
      </svg>
      <span>plinth</span>
    </div>
  );
}
