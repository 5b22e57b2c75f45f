import {
  deleteRecord,
  faultsOf,
  fetchHistory,
  fetchRecord,
  type GameRecord,
  type LoadedRecord,
} from '@plinth/console-core/api/gamedata.js';
import { recordName } from '@plinth/console-core/lib/form/record-fields.js';
import { countText } from '@plinth/console-core/lib/units.js';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { CopyButton } from '../../components/controls/copy-button.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { TextField } from '../../components/controls/text-field.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { FaultList } from '../../components/form/fault-list.js';
import { SignedIn } from './gamedata-frame.js';
import { HistoryTable } from './history-table.js';
import { RecordEditor } from './record-editor.js';
import { useEditor } from './use-editor.js';

const TO = '/gamedata/$kind/$id';
const TABS = [
  ['', 'Form'],
  ['json', 'JSON'],
  ['history', 'History'],
] as const;

/** Shows one record of the draft: a form, its JSON and its history. */
export function RecordPage() {
  const { kind = '', id = '' } = useParams({ strict: false }) as Record<string, string>;
  const { tab = '' } = useSearch({ strict: false }) as Record<string, string>;
  const { session, missing } = useEditor();
  const [isDeleting, setIsDeleting] = useState(false);
  const found = useQuery({
    queryKey: ['gamedata', 'record', kind, id],
    queryFn: () => fetchRecord(kind, id),
    enabled: session.data !== undefined,
  });
  return (
    <div className="page">
      <header className="page-head">
        <nav aria-label="Breadcrumb">
          <Link to="/gamedata">Game data</Link> ›{' '}
          <Link to="/gamedata/$kind" params={{ kind }}>
            {kind}
          </Link>
        </nav>
        <h1 tabIndex={-1}>{found.data ? recordName(found.data.record) : id}</h1>
        <code>{id}</code>
        <CopyButton text={id} label="Copy id" />
        <span className="row wrap end">
          <Neighbors kind={kind} id={id} />
          <button
            type="button"
            className="button"
            disabled={found.data === undefined || missing('write') !== undefined}
            title={missing('write')}
            onClick={() => setIsDeleting(true)}
          >
            Delete …
          </button>
        </span>
      </header>
      <nav className="tabs" aria-label="Record sections">
        {TABS.map(([value, label]) => (
          <Link
            key={value}
            to={TO}
            params={{ kind, id }}
            search={value === '' ? {} : { tab: value }}
            activeOptions={{ exact: true, explicitUndefined: true }}
            aria-current={tab === value ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      <SignedIn>
        <QueryProblem of={found} />
        {tab === 'history' ? (
          <RecordHistory kind={kind} id={id} />
        ) : (
          found.data && (
            <RecordEditor
              key={`${kind} ${id}`}
              kind={kind}
              stored={found.data}
              isJson={tab === 'json'}
            />
          )
        )}
      </SignedIn>
      {isDeleting && found.data && (
        <DeleteRecord kind={kind} stored={found.data} onClose={() => setIsDeleting(false)} />
      )}
    </div>
  );
}

/** Links to the records before and after this one, if the list was loaded. */
function Neighbors({ kind, id }: { readonly kind: string; readonly id: string }) {
  const queryKey = ['gamedata', 'records', kind];
  const records = useQueryClient().getQueryData<readonly GameRecord[]>(queryKey);
  const index = records?.findIndex((record) => record.id === id) ?? -1;
  if (records === undefined || index === -1) return null;
  const link = (at: number, label: string, text: string, key: object) => {
    const record = records[at];
    return (
      record && (
        <Link
          to={TO}
          params={{ kind, id: record.id }}
          className="button icon"
          aria-label={label}
          {...key}
        >
          {text}
        </Link>
      )
    );
  };
  return (
    <span className="row">
      {link(index - 1, 'Previous record', '‹', { 'data-previous': true })}
      <span className="soft small">
        {countText(index + 1)} of {countText(records.length)}
      </span>
      {link(index + 1, 'Next record', '›', { 'data-next': true })}
    </span>
  );
}

function RecordHistory({ kind, id }: { readonly kind: string; readonly id: string }) {
  const history = useQuery({
    queryKey: ['gamedata', 'history', kind, id],
    queryFn: () => fetchHistory({ type: kind, id }, 100),
  });
  return (
    <>
      <QueryProblem of={history} />
      <HistoryTable entries={history.data?.entries} empty="No changes to this record yet." />
    </>
  );
}

function DeleteRecord(props: {
  readonly kind: string;
  readonly stored: LoadedRecord;
  readonly onClose: () => void;
}) {
  const { kind, stored, onClose } = props;
  const { record, etag } = stored;
  const navigate = useNavigate();
  const [replacedBy, setReplacedBy] = useState('');
  const { changed } = useChanges('gamedata');
  return (
    <FormDialog
      title={`Delete ${recordName(record)}`}
      action="Delete record"
      isDanger
      canAct
      onClose={onClose}
      act={async () => {
        await deleteRecord(kind, record.id, { etag, replacedBy: replacedBy.trim() });
        await navigate({ to: '/gamedata/$kind', params: { kind } });
        await changed('Record deleted from the draft');
      }}
    >
      {(error) => (
        <>
          <p>The record is deleted from the draft. Readers see it until you publish.</p>
          <TextField
            label="Replaced by"
            isCode
            value={replacedBy}
            onChange={setReplacedBy}
            placeholder="none"
            hint="Optional: the id of the record that replaces this one in all references"
          />
          <FaultList faults={faultsOf(error)} />
        </>
      )}
    </FormDialog>
  );
}
