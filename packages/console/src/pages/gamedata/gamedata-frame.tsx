import { Problem } from '@plinth/console-core/api/problem.js';
import { fetchEditorSession } from '@plinth/console-core/api/server.js';
import { session } from '@plinth/console-core/api/session.js';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { ProblemNote, QueryProblem } from '../../components/controls/problem-note.js';
import { TextField } from '../../components/controls/text-field.js';
import { useTask } from '../../components/controls/use-task.js';
import { PublishDialog } from './publish-dialog.js';
import { useEditor } from './use-editor.js';
import './gamedata.css';

const TABS = [
  ['/gamedata', 'Collections'],
  ['/gamedata/changes', 'Changes'],
  ['/gamedata/versions', 'Versions'],
  ['/gamedata/exchange', 'Import and export'],
] as const;

/** The frame of the game data pages that are not about one record. */
export function GameDataFrame(props: {
  readonly tab: (typeof TABS)[number][0];
  readonly children: ReactNode;
}) {
  const { tab, children } = props;
  const { session: editor, missing } = useEditor();
  const [isPublishing, setIsPublishing] = useState(false);
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Game data</h1>
        {editor.data && <span className="soft small">signed in as {editor.data.name}</span>}
        <button
          type="button"
          className="button primary end"
          disabled={editor.data === undefined || missing('publish') !== undefined}
          title={missing('publish')}
          onClick={() => setIsPublishing(true)}
        >
          Publish …
        </button>
      </header>
      <nav className="tabs" aria-label="Game data sections">
        {TABS.map(([to, label]) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: true }}
            aria-current={to === tab ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      <SignedIn>{children}</SignedIn>
      {isPublishing && <PublishDialog onClose={() => setIsPublishing(false)} />}
    </div>
  );
}

/** Shows its content to editors. A server without authentication still requires a token for the editor. */
export function SignedIn({ children }: { readonly children: ReactNode }) {
  const { session: editor } = useEditor();
  if (editor.data !== undefined) return children;
  const { error } = editor;
  if (error instanceof Problem && error.status === 401) return <TokenForm />;
  return <QueryProblem of={editor} />;
}

function TokenForm() {
  const client = useQueryClient();
  const [token, setToken] = useState('');
  const { run, error, isBusy } = useTask();
  return (
    <form
      className="card stack form-card"
      aria-label="Sign in to the editor"
      onSubmit={(event) => {
        event.preventDefault();
        if (token === '' || isBusy) return;
        void run(async () => {
          await fetchEditorSession(token);
          session.signIn(token, 'editor');
          await client.invalidateQueries({ queryKey: ['gamedata'] });
        });
      }}
    >
      <p>The editor requires a token. Create one with this command:</p>
      <code>plinth gamedata token Ann --scopes read+write+publish</code>
      <TextField label="Editor token" isCode isSecret value={token} onChange={setToken} />
      {error !== undefined && <ProblemNote error={error} />}
      <div className="row">
        <button type="submit" className="button primary" disabled={token === '' || isBusy}>
          Sign in
        </button>
      </div>
    </form>
  );
}
