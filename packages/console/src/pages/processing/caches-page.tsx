import {
  type Cache,
  cacheQuery,
  createCache,
  deleteCache,
  fetchCaches,
} from '@plinth/console-core/api/processing.js';
import { fetchTables, type Table } from '@plinth/console-core/api/tsdb.js';
import { parseDuration } from '@plinth/console-core/lib/time/duration.js';
import { countText, durationText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import {
  DatabaseChoice,
  DatabaseField,
  LeftOut,
  useOfDatabases,
} from '../../components/controls/database-choice.js';
import { DeleteButton } from '../../components/controls/delete-button.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { Icon } from '../../components/controls/icon.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { TextField } from '../../components/controls/text-field.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { SectionTabs } from '../../components/shell/section-tabs.js';

const MAX_TABLES = 500;

/** Lists the last value and distinct value caches of all databases. */
export function CachesPage() {
  const { db, names, choice, rows: caches, leftCount } = useOfDatabases('caches', fetchCaches);
  const [isCreating, setIsCreating] = useState(false);
  const [going, setGoing] = useState<(Cache & { readonly db: string }) | undefined>();
  const { changed } = useChanges('tsdb', 'caches');
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Caches</h1>
        <DatabaseChoice path="/caches" db={db} names={names} hasAll />
        <button
          type="button"
          className="button primary end"
          disabled={choice.preset === ''}
          title={choice.preset === '' ? 'Create a database first' : undefined}
          onClick={() => setIsCreating(true)}
        >
          <Icon name="plus" size={14} /> Create cache
        </button>
      </header>
      <SectionTabs section="/data" />
      <QueryProblem of={caches} />
      <DataTable
        label="Caches"
        rows={caches.data}
        keyOf={(cache) => `${cache.db} ${cache.kind} ${cache.table} ${cache.name}`}
        columns={[
          {
            title: 'Cache',
            cell: (cache) => (
              <Link to="/explore" search={{ db: cache.db, lang: 'sql', q: cacheQuery(cache) }}>
                {cache.name}
              </Link>
            ),
          },
          { title: 'Database', cell: (cache) => cache.db },
          { title: 'Type', cell: (cache) => <>{cache.kind} values</> },
          {
            title: 'Table',
            cell: (cache) => (
              <Link to="/data/$db/$table" params={{ db: cache.db, table: cache.table }}>
                {cache.table}
              </Link>
            ),
          },
          { title: 'Key columns', cell: (cache) => cache.columns.join(', ') || '–' },
          {
            title: 'Maximum number of values',
            className: 'num',
            cell: (cache) =>
              cache.kind === 'last'
                ? `${countText(cache.count)} per series`
                : countText(cache.count),
          },
          {
            title: 'Maximum age',
            className: 'num nowrap',
            cell: (cache) => durationText(cache.ageSec),
          },
          {
            ...ACTIONS,
            cell: (cache) => <DeleteButton name={cache.name} onClick={() => setGoing(cache)} />,
          },
        ]}
        empty={
          <>
            {db === '' ? 'No caches yet.' : `${db} has no caches.`} A last value cache keeps the
            newest values of each series in memory; a distinct value cache keeps the distinct values
            of columns.
          </>
        }
      />
      <LeftOut count={leftCount} />
      {isCreating && (
        <CreateCache
          {...choice}
          onClose={() => setIsCreating(false)}
          onCreated={(table) => {
            setIsCreating(false);
            void changed(`Cache for ${table} created`);
          }}
        />
      )}
      {going !== undefined && (
        <ConfirmDelete
          what="cache"
          name={going.name}
          loss={`Queries that use ${going.kind}_cache('${going.table}') will fail. The rows of the table are kept.`}
          onClose={() => setGoing(undefined)}
          act={async () => {
            await deleteCache(going.db, going);
            await changed(`${going.name} deleted`);
          }}
        />
      )}
    </div>
  );
}

function CreateCache(props: {
  readonly preset: string;
  readonly names: readonly string[];
  readonly onClose: () => void;
  readonly onCreated: (table: string) => void;
}) {
  const { preset, names, onClose, onCreated } = props;
  const [db, setDb] = useState(preset);
  const id = useId();
  const [kind, setKind] = useState<Cache['kind']>('last');
  const [table, setTable] = useState('');
  const [name, setName] = useState('');
  const [columns, setColumns] = useState('');
  const [count, setCount] = useState('');
  const [age, setAge] = useState('');
  const tables = useQuery({
    queryKey: ['tsdb', 'tables', db, MAX_TABLES],
    queryFn: () => fetchTables({ db, limit: MAX_TABLES }),
  });
  const all: readonly Table[] = tables.data?.tables ?? [];
  const chosen = all.find((each) => each.name === table) ?? all[0];
  const tags = (chosen?.columns ?? [])
    .filter((column) => column.kind === 'tag')
    .map((tag) => tag.name);
  const named = columns
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  const unknown = named.filter((each) => !chosen?.columns.some((column) => column.name === each));
  const seconds = age.trim() === '' ? undefined : parseDuration(age);
  const most = count.trim() === '' ? undefined : Number(count);
  const isCountRight = most === undefined || (Number.isInteger(most) && most > 0);
  const isAgeRight = age.trim() === '' || seconds !== undefined;
  const hasColumns = kind === 'last' || named.length > 0;
  const isLast = kind === 'last';
  return (
    <FormDialog
      title="Create cache"
      action="Create"
      doing="Creating …"
      canAct={
        chosen !== undefined && unknown.length === 0 && hasColumns && isCountRight && isAgeRight
      }
      act={async () => {
        if (chosen === undefined) return;
        await createCache({
          kind,
          db,
          table: chosen.name,
          name: name.trim(),
          columns: named,
          count: most,
          ageSec: seconds,
        });
        onCreated(chosen.name);
      }}
      onClose={onClose}
    >
      <DatabaseField db={db} names={names} onChange={setDb} />
      <fieldset className="row">
        <legend className="visually-hidden">Cache type</legend>
        <label className="row">
          <input type="radio" checked={isLast} onChange={() => setKind('last')} />
          last values
        </label>
        <label className="row">
          <input type="radio" checked={!isLast} onChange={() => setKind('distinct')} />
          distinct values
        </label>
      </fieldset>
      <div className="field">
        <label htmlFor={id}>Table</label>
        <select
          id={id}
          className="input"
          value={chosen?.name ?? ''}
          onChange={(event) => setTable(event.target.value)}
        >
          {all.map((each) => (
            <option key={each.name}>{each.name}</option>
          ))}
        </select>
        {tables.data !== undefined && all.length === 0 && (
          <span className="field-error">This database has no tables yet.</span>
        )}
      </div>
      <TextField
        label="Key columns"
        isCode
        value={columns}
        onChange={setColumns}
        placeholder={tags.join(', ')}
        mistake={
          unknown.length === 0
            ? undefined
            : `Column not found in ${chosen?.name ?? 'the table'}: ${unknown.join(', ')}.`
        }
        hint={isLast ? 'Leave empty for all tags.' : 'Columns to cache, such as host, region.'}
      />
      <TextField
        label={isLast ? 'Values per series' : 'Maximum number of values'}
        isCode
        value={count}
        onChange={setCount}
        placeholder={isLast ? '1' : '100000'}
        mistake={isCountRight ? undefined : 'Enter an integer of at least 1.'}
        hint={isLast ? 'At most 10.' : 'The oldest values are evicted first.'}
      />
      <TextField
        label="Maximum age"
        isCode
        value={age}
        onChange={setAge}
        placeholder={isLast ? '4h' : '24h'}
        mistake={
          isAgeRight ? undefined : 'Invalid duration; use a value such as 30d, 12h or 1d 6h.'
        }
        hint="Older values are not returned."
      />
      <TextField
        label="Name"
        isCode
        value={name}
        onChange={setName}
        hint="Leave empty to generate a name from the table and columns."
      />
    </FormDialog>
  );
}
