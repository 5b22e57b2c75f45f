import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { writeSampleData } from '../../api/samples.js';
import { createFirstToken, fetchInfo } from '../../api/server.js';
import { session } from '../../api/session.js';
import { SAMPLE_EXPLORE } from '../../lib/samples.js';
import { ProblemNote } from '../controls/problem-note.js';
import { ShownOnce } from '../controls/shown-once.js';
import { Brand } from './sign-in.js';

/** A fresh server: makes its token, shows it this once, and leads to the first chart. */
export function FirstToken({ onDone }: { readonly onDone: () => void }) {
  // Nowhere but here: not in the cache of answers, not in an address.
  const [token, setToken] = useState('');
  const [isStored, setIsStored] = useState(false);
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const navigate = useNavigate();
  const attempt = async (work: () => Promise<void>) => {
    setIsBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (failure) {
      setError(failure);
    } finally {
      setIsBusy(false);
    }
  };
  const create = () => attempt(async () => setToken((await createFirstToken()).token));
  const enter = () => {
    session.signIn(token);
    onDone();
  };
  const writeSample = () =>
    attempt(async () => {
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
          <>
            <h1>Welcome</h1>
            <p className="soft">
              This server is new: nobody has a token yet. The first one may do everything, and opens
              this console.
            </p>
            <button
              type="button"
              className="button primary"
              disabled={isBusy}
              onClick={() => void create()}
            >
              {isBusy ? 'Creating …' : 'Create admin token'}
            </button>
          </>
        ) : (
          <>
            <h1>Your admin token</h1>
            <p className="soft">
              It is shown this once and cannot be read again. Keep it where you keep passwords.
            </p>
            <ShownOnce secret={token} isStored={isStored} onStored={setIsStored} />
            <div className="row wrap">
              <button
                type="button"
                className="button"
                disabled={!isStored || isBusy}
                onClick={() => void writeSample()}
              >
                {isBusy ? 'Writing …' : 'Write sample data and draw it'}
              </button>
              <button
                type="button"
                className="button quiet"
                disabled={!isStored || isBusy}
                onClick={enter}
              >
                Go on without
              </button>
            </div>
          </>
        )}
        {error !== undefined && <ProblemNote error={error} />}
      </div>
    </main>
  );
}
