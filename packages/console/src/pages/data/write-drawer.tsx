import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { fetchDatabases, writeLines } from '../../api/tsdb.js';
import { CopyBox } from '../../components/controls/copy-button.js';
import { Dialog } from '../../components/controls/dialog.js';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { toast } from '../../components/controls/toasts.js';
import { checkLines } from '../../lib/line-protocol/check-lines.js';
import { sampleQuery } from '../../lib/query/plot-query.js';
import { countText } from '../../lib/units.js';

const PRECISIONS = ['auto', 'nanosecond', 'microsecond', 'millisecond', 'second'] as const;
const MAX_SHOWN_COUNT = 5;
const EXAMPLE = 'cpu,host=a usage=12.5,cores=8i\ncpu,host=b usage=71,cores=4i';

/** Line protocol, looked at while it is typed; what the server refuses is told line by line. */
export function WriteDrawer(props: { readonly db: string; readonly onClose: () => void }) {
  const { onClose } = props;
  const [db, setDb] = useState(props.db);
  const [lines, setLines] = useState('');
  const [precision, setPrecision] = useState<string>('auto');
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const [written, setWritten] = useState<{ readonly db: string; readonly table: string }>();
  const client = useQueryClient();
  const navigate = useNavigate();
  const databases = useQuery({ queryKey: ['tsdb', 'databases'], queryFn: () => fetchDatabases() });
  const check = useMemo(() => checkLines(lines), [lines]);
  const [table] = check.tables;
  const write = async () => {
    setIsBusy(true);
    setError(undefined);
    setWritten(undefined);
    try {
      await writeLines({ db, precision, lines });
      toast(`${countText(check.lineCount)} ${check.lineCount === 1 ? 'line' : 'lines'} written`);
      if (table !== undefined) setWritten({ db, table });
    } catch (failure) {
      setError(failure);
    } finally {
      setIsBusy(false);
      await client.invalidateQueries({ queryKey: ['tsdb'] });
    }
  };
  return (
    <Dialog title="Write" isOpen isDrawer onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void write();
        }}
      >
        <div className="row wrap">
          <div className="field grow">
            <label htmlFor="write-db">Database</label>
            <input
              id="write-db"
              className="input mono"
              list="write-dbs"
              placeholder="mydb"
              value={db}
              onChange={(event) => setDb(event.target.value)}
            />
            <datalist id="write-dbs">
              {databases.data?.map(({ name }) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </div>
          <div className="field">
            <label htmlFor="write-precision">Precision of times</label>
            <select
              id="write-precision"
              className="input"
              value={precision}
              onChange={(event) => setPrecision(event.target.value)}
            >
              {PRECISIONS.map((each) => (
                <option key={each} value={each}>
                  {each === 'auto' ? 'auto, by size' : `${each}s`}
                </option>
              ))}
            </select>
          </div>
        </div>
        <div className="field">
          <label htmlFor="write-lines">Lines</label>
          <textarea
            id="write-lines"
            className="input"
            rows={12}
            spellCheck={false}
            placeholder={EXAMPLE}
            aria-describedby="write-check"
            value={lines}
            onChange={(event) => setLines(event.target.value)}
          />
          <div id="write-check" role="status">
            {check.problems.length === 0 ? (
              <span className="hint">
                {check.lineCount === 0
                  ? 'table,tag=value field=1.5 time'
                  : `${countText(check.lineCount)} ${check.lineCount === 1 ? 'line' : 'lines'} for ${check.tables.join(', ')}`}
              </span>
            ) : (
              check.problems.slice(0, MAX_SHOWN_COUNT).map(({ line, column, message }) => (
                <p key={`${line} ${column}`} className="field-error">
                  line {line}, column {column}: {message}
                </p>
              ))
            )}
            {check.problems.length > MAX_SHOWN_COUNT && (
              <p className="hint">
                {MAX_SHOWN_COUNT} of {countText(check.problems.length)} lines with mistakes
              </p>
            )}
          </div>
        </div>
        {error !== undefined && <ProblemNote error={error} />}
        {written !== undefined && (
          <div className="note row wrap">
            Written to {written.db}.
            <button
              type="button"
              className="button small"
              onClick={() => {
                onClose();
                void navigate({
                  to: '/explore',
                  search: {
                    db: written.db,
                    lang: 'sql',
                    q: sampleQuery(written.table),
                    view: 'table',
                  },
                });
              }}
            >
              Query this table
            </button>
          </div>
        )}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={() => setLines(EXAMPLE)}>
            Put in an example
          </button>
          <button
            type="submit"
            className="button primary"
            disabled={db === '' || check.lineCount === 0 || isBusy}
          >
            {isBusy ? 'Writing …' : 'Write'}
          </button>
        </div>
      </form>
      <CopyBox
        label="Copy the command"
        text={`curl "${location.origin}/api/v3/write_lp?db=${encodeURIComponent(db || 'mydb')}&precision=${precision}" \\\n  -H "Authorization: Bearer $PLINTH_TOKEN" \\\n  --data-binary @lines.txt`}
      />
    </Dialog>
  );
}
