import { fetchDatabases } from '@plinth/console-core/api/tsdb.js';
import { sampleQuery } from '@plinth/console-core/lib/query/plot-query.js';
import { lastDatabase } from '@plinth/console-core/lib/storage/last-database.js';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Dialog } from '../../../components/controls/dialog.js';
import { CsvForm } from './csv-form.js';
import { LinesForm } from './lines-form.js';
import './write.css';

const WAYS = { lines: 'Lines', csv: 'CSV file' } as const;
type Way = keyof typeof WAYS;

/** Writes line protocol or a CSV file to a database. */
export function WriteDrawer(props: { readonly db: string; readonly onClose: () => void }) {
  const { onClose } = props;
  const [db, setDb] = useState(props.db || lastDatabase());
  const [way, setWay] = useState<Way>('lines');
  const [isSending, setIsSending] = useState(false);
  const [isUnwritten, setIsUnwritten] = useState(false);
  const [isConfirming, setIsConfirming] = useState(false);
  const onUnwritten = (is: boolean) => {
    setIsUnwritten(is);
    setIsConfirming(false);
  };
  const close = () => (isUnwritten && !isConfirming ? setIsConfirming(true) : onClose());
  const navigate = useNavigate();
  const databases = useQuery({ queryKey: ['tsdb', 'databases'], queryFn: () => fetchDatabases() });
  const isNew = db !== '' && databases.data?.every(({ name }) => name !== db);
  const onQuery = (target: { readonly db: string; readonly table: string }) => {
    onClose();
    void navigate({
      to: '/explore',
      search: { db: target.db, lang: 'sql', q: sampleQuery(target.table), view: 'table' },
    });
  };
  return (
    <Dialog title="Write data" isOpen isDrawer isFirm={isSending} onClose={close}>
      {isConfirming && (
        <p className="note warn" role="alert">
          Your input has not been written. Close again to discard it.
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
        <fieldset className="segments" aria-label="Input format">
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
      {/* Both forms stay mounted so that switching between them keeps the input. */}
      <div hidden={way !== 'lines'}>
        <LinesForm db={db} onUnwritten={onUnwritten} onQuery={onQuery} />
      </div>
      <div hidden={way !== 'csv'}>
        <CsvForm db={db} onSending={setIsSending} onUnwritten={onUnwritten} onQuery={onQuery} />
      </div>
    </Dialog>
  );
}
