import { useState } from 'react';
import { Dialog } from '../../components/controls/dialog.js';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { parseDuration } from '../../lib/time/duration.js';
import { durationText } from '../../lib/units.js';

/** A database that is made, or whose retention is changed. */
export function NameAndRetention(props: {
  readonly title: string;
  readonly action: string;
  /** Of one that is there. */
  readonly name?: string;
  readonly retentionNs?: string | null;
  readonly onClose: () => void;
  readonly act: (name: string, retention: string) => Promise<void>;
}) {
  const { title, action, name: given, retentionNs, onClose, act } = props;
  const [name, setName] = useState(given ?? '');
  const [retention, setRetention] = useState(
    retentionNs == null ? '' : `${BigInt(retentionNs) / 1_000_000_000n}s`,
  );
  const [error, setError] = useState<unknown>();
  const seconds = retention.trim() === '' ? undefined : parseDuration(retention);
  const isRetentionRight = retention.trim() === '' || seconds !== undefined;
  const canGo = name !== '' && isRetentionRight;
  const submit = async () => {
    try {
      await act(name, retention.trim());
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (canGo) void submit();
        }}
      >
        {given === undefined && (
          <div className="field">
            <label htmlFor="database-name">Name</label>
            <input
              id="database-name"
              className="input mono"
              autoFocus
              maxLength={64}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
            <span className="hint">
              Letters, digits, <code>_</code>, <code>-</code> and <code>/</code>; at most 64.
            </span>
          </div>
        )}
        <div className="field">
          <label htmlFor="database-retention">Retention</label>
          <input
            id="database-retention"
            className="input mono"
            placeholder="30d; empty: kept for ever"
            aria-invalid={!isRetentionRight}
            value={retention}
            onChange={(event) => setRetention(event.target.value)}
          />
          <span className={isRetentionRight ? 'hint' : 'field-error'} role="status">
            {!isRetentionRight
              ? 'This is no duration: 30d, 12h or 1d 6h.'
              : seconds === undefined
                ? 'Rows are kept for ever.'
                : `Rows older than ${durationText(seconds)} are hidden, then removed.`}
          </span>
        </div>
        {error !== undefined && <ProblemNote error={error} />}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={!canGo}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
