import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { fetchDatabases } from '../../../api/tsdb.js';
import { Dialog } from '../../../components/controls/dialog.js';
import { sampleQuery } from '../../../lib/query/plot-query.js';
import { CsvForm } from './csv-form.js';
import { LinesForm } from './lines-form.js';
import './write.css';

const WAYS = { lines: 'Lines', csv: 'CSV file' } as const;
type Way = keyof typeof WAYS;

/** Line protocol that is typed, or a CSV file whose columns are told apart. */
export function WriteDrawer(props: { readonly db: string; readonly onClose: () => void }) {
  const { onClose } = props;
  const [db, setDb] = useState(props.db);
  const [way, setWay] = useState<Way>('lines');
  const [isSending, setIsSending] = useState(false);
  const [isUnwritten, setIsUnwritten] = useState(false);
  const [isAsked, setIsAsked] = useState(false);
  const onUnwritten = (is: boolean) => {
    setIsUnwritten(is);
    setIsAsked(false);
  };
  const close = () => (isUnwritten && !isAsked ? setIsAsked(true) : onClose());
  const navigate = useNavigate();
  const databases = useQuery({ queryKey: ['tsdb', 'databases'], queryFn: () => fetchDatabases() });
  const isNew = db !== '' && databases.data?.every(({ name }) => name !== db);
  const onQuery = (of: { readonly db: string; readonly table: string }) => {
    onClose();
    void navigate({
      to: '/explore',
      search: { db: of.db, lang: 'sql', q: sampleQuery(of.table), view: 'table' },
    });
  };
  return (
    <Dialog title="Write" isOpen isDrawer isFirm={isSending} onClose={close}>
      {isAsked && (
        <p className="note warn" role="alert">
          What is here is not written: closing again throws it away.
        </p>
      )}
      <div className="row wrap write-head">
        <div className="field grow">
          <label htmlFor="write-db">Database</label>
          <input
            id="write-db"
            className="input mono"
            autoFocus
            list="write-dbs"
            aria-describedby="write-new-db"
            placeholder="mydb"
            disabled={isSending}
            value={db}
            onChange={(event) => setDb(event.target.value)}
          />
          <datalist id="write-dbs">
            {databases.data?.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </div>
        <fieldset className="segments" aria-label="What is written">
          {(Object.keys(WAYS) as Way[]).map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={way === each}
              disabled={isSending}
              onClick={() => setWay(each)}
            >
              {WAYS[each]}
            </button>
          ))}
        </fieldset>
      </div>
      {isNew && (
        <p id="write-new-db" className="hint">
          New database {db}
        </p>
      )}
      {/* What is typed or chosen stays when its author looks at the other way. */}
      <div hidden={way !== 'lines'}>
        <LinesForm db={db} onUnwritten={onUnwritten} onQuery={onQuery} />
      </div>
      <div hidden={way !== 'csv'}>
        <CsvForm db={db} onSending={setIsSending} onUnwritten={onUnwritten} onQuery={onQuery} />
      </div>
    </Dialog>
  );
}
