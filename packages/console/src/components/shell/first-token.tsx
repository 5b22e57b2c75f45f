import { writeSampleData } from '@plinth/console-core/api/samples.js';
import { createFirstToken, fetchInfo, type ServerInfo } from '@plinth/console-core/api/server.js';
import { session } from '@plinth/console-core/api/session.js';
import { SAMPLE_EXPLORE } from '@plinth/console-core/lib/samples.js';
import { setStartList } from '@plinth/console-core/lib/storage/start-list.js';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { ProblemNote } from '../controls/problem-note.js';
import { ShownOnce } from '../controls/shown-once.js';
import { useTask } from '../controls/use-task.js';
import { Brand } from './sign-in.js';

/** The first page of a new server: creates the admin token, shows it once, and offers sample data. */
export function FirstToken(props: { readonly info: ServerInfo; readonly onDone: () => void }) {
  const { info, onDone } = props;
  // The token is kept only here, not in the query cache and not in the address.
  const [token, setToken] = useState('');
  const [isStored, setIsStored] = useState(false);
  const { run, error, isBusy } = useTask();
  const navigate = useNavigate();
  const create = (claimCode: string) =>
    run(async () => {
      setToken((await createFirstToken(claimCode)).token);
      setStartList('shown');
    });
  const enter = () => {
    session.signIn(token);
    onDone();
  };
  const writeSample = () =>
    run(async () => {
      session.signIn(token);
      const { services } = await fetchInfo();
      if (services.includes('tsdb')) {
        await writeSampleData();
        await navigate({ to: '/explore', search: SAMPLE_EXPLORE });
      }
      onDone();
    });
  return (
    <main className="gate">
      <div className="gate-card card stack">
        <Brand />
        {token === '' ? (
          <Welcome
            firstToken={info.first_token}
            isBusy={isBusy}
            onCreate={(claimCode) => void create(claimCode)}
          />
        ) : (
          <>
            <h1>Your admin token</h1>
            <p className="soft">
              This token is shown only once and cannot be retrieved later. Store it in a password
              manager.
            </p>
            <ShownOnce secret={token} isStored={isStored} onStored={setIsStored} />
            <div className="row wrap">
              <button
                type="button"
                className="button"
                disabled={!isStored || isBusy}
                onClick={() => void writeSample()}
              >
                {isBusy ? 'Loading …' : 'Load sample data'}
              </button>
              <button
                type="button"
                className="button quiet"
                disabled={!isStored || isBusy}
                onClick={enter}
              >
                Skip
              </button>
            </div>
          </>
        )}
        {error !== undefined && <ProblemNote error={error} />}
      </div>
    </main>
  );
}

function Welcome(props: {
  readonly firstToken: ServerInfo['first_token'];
  readonly isBusy: boolean;
  readonly onCreate: (claimCode: string) => void;
}) {
  const { firstToken, isBusy, onCreate } = props;
  const id = useId();
  const [claimCode, setClaimCode] = useState('');
  const needsCode = firstToken === 'claim_code';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onCreate(claimCode.trim());
  };
  return (
    <form className="stack" onSubmit={submit}>
      <h1>Welcome</h1>
      <p className="soft">This server has no token. Create the admin token to open the console.</p>
      {firstToken === 'anyone' && (
        <p className="note warn" role="note">
          Anyone who can reach this address can create this token, because the setting{' '}
          <code>server.first_token</code> is <code>anyone</code>.
        </p>
      )}
      {needsCode && (
        <div className="field">
          <label htmlFor={id}>Claim code</label>
          <input
            id={id}
            className="input mono"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={claimCode}
            aria-describedby={`${id}-hint`}
            onChange={(event) => setClaimCode(event.target.value)}
          />
          <p id={`${id}-hint`} className="hint soft">
            The claim code proves that you have access to the server. The server printed it on its
            terminal at startup, or wrote it to the file <code>claim-code</code> in its data
            directory. If a proxy forwards this page, first set <code>server.public_url</code> and
            restart the server.
          </p>
        </div>
      )}
      <button
        type="submit"
        className="button primary"
        disabled={isBusy || (needsCode && claimCode.trim() === '')}
      >
        {isBusy ? 'Creating …' : 'Create admin token'}
      </button>
    </form>
  );
}
