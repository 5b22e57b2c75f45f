import { lineRunner } from '@plinth/console-core/api/line-runner.js';
import {
  type Choices,
  choose,
  chooseColumns,
  commandOf,
  mappingOf,
  tableNameOf,
} from '@plinth/console-core/lib/line-protocol/csv-columns.js';
import { countOf } from '@plinth/console-core/lib/units.js';
import {
  type CsvMapping,
  type Separator,
  TIME_FORMATS,
  TIME_TEXTS,
  type TimeFormat,
} from '@plinth/line-protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { CopyBox } from '../../../components/controls/copy-button.js';
import { ProblemNote } from '../../../components/controls/problem-note.js';
import { TextField } from '../../../components/controls/text-field.js';
import { ColumnTable } from './column-table.js';
import { CsvPreview } from './csv-preview.js';
import { CsvSending } from './csv-sending.js';
import { FileChoice } from './file-choice.js';
import { SchemaPreview, useSchemaChanges } from './schema-preview.js';
import { IDLE, useCsvHead, useCsvPreview, useCsvRun } from './use-csv.js';
import { useKnownTables } from './use-known-tables.js';
import { WriteButton } from './write-button.js';

const TIME_LABELS: Readonly<Record<TimeFormat, string>> = {
  auto: 'auto-detect: dates or numbers',
  rfc3339: 'dates, such as 2024-12-30T08:00:00Z',
  s: 'seconds since 1970',
  ms: 'milliseconds since 1970',
  us: 'microseconds since 1970',
  ns: 'nanoseconds since 1970',
};
const SEPARATOR_NAMES: Readonly<Record<Separator, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
};

interface Kept {
  readonly timeFormat: TimeFormat;
  readonly chosen: Choices;
}
const MAX_KEPT_COUNT = 20;
const NOTHING_CHOSEN: Kept = { timeFormat: 'auto', chosen: new Map() };
/** Choices by the column names of the file. They survive closing the drawer. */
let lastKept: ReadonlyMap<string, Kept> = new Map();

/** Writes a CSV file to a table. Roles and types of its columns are guessed, and can be changed before the write. */
export function CsvForm(props: {
  readonly db: string;
  readonly onSending: (isSending: boolean) => void;
  /** Reports whether closing would lose input. */
  readonly onUnwritten: (is: boolean) => void;
  readonly onQuery: (target: { readonly db: string; readonly table: string }) => void;
}) {
  const { db, onSending, onUnwritten, onQuery } = props;
  const [file, setFile] = useState<File | undefined>();
  const [table, setTable] = useState('');
  const [kept, setKept] = useState(lastKept);
  const [writtenDb, setWrittenDb] = useState(db);
  const { head, error } = useCsvHead(file);
  // The choices also apply to the next file with the same column names.
  const key = JSON.stringify(head?.columns.map(({ name }) => name));
  const { timeFormat, chosen } = kept.get(key) ?? NOTHING_CHOSEN;
  const keep = (part: Partial<Kept>) => {
    const others = [...kept].filter(([each]) => each !== key).slice(1 - MAX_KEPT_COUNT);
    lastKept = new Map([...others, [key, { timeFormat, chosen, ...part }]]);
    setKept(lastKept);
  };
  const sending = useCsvRun();
  // The error may refer to the database name, which has changed since.
  const state = sending.state.phase === 'failed' && writtenDb !== db ? IDLE : sending.state;
  const { phase } = state;
  const [columnsOfTable] = useKnownTables(db, [table]);
  const known = columnsOfTable === 'new' ? undefined : columnsOfTable;
  const columns = useMemo(
    () => chooseColumns(head?.columns ?? [], known, chosen),
    [head, known, chosen],
  );
  const mapping = useMemo(
    () => mappingOf(columns, { table, timeFormat }),
    [columns, table, timeFormat],
  );
  const preview = useCsvPreview(phase === 'idle' ? file : undefined, mapping);
  const hasRows = preview.phase === 'running' || preview.progress?.rowCount !== 0;
  const changes = useSchemaChanges(db, mapping === undefined || !hasRows ? [] : [mapping]);
  const hasConflicts = changes.some(({ conflicts }) => conflicts.length > 0);
  const fate = fateOf(mapping);
  const client = useQueryClient();
  /** A change of input clears the outcome of the previous write. */
  const change = (act: () => void) => {
    sending.reset();
    onUnwritten(true);
    act();
  };
  const takeFile = (next: File) =>
    change(() => {
      setFile(next);
      if (next.name !== file?.name) setTable(tableNameOf(next.name));
    });
  const write = async (from: File, as: CsvMapping) => {
    onSending(true);
    setWrittenDb(db);
    await sending.start((how) => lineRunner.write({ file: from, mapping: as, ...how }, db));
    onSending(false);
    onUnwritten(false);
    await client.invalidateQueries({ queryKey: ['tsdb'] });
  };
  return (
    <div className="stack">
      <FileChoice file={file} isDisabled={phase === 'running'} onFile={takeFile} />
      {error !== undefined && <ProblemNote error={error} />}
      {file !== undefined && head !== undefined && head.columns.length === 0 && (
        <p className="note warn">The file has no header line with column names.</p>
      )}
      {file !== undefined && head !== undefined && head.columns.length > 0 && (
        <>
          <fieldset className="choice stack" disabled={phase === 'running'}>
            <div className="csv-names">
              <TextField
                label="Table"
                isCode
                value={table}
                onChange={(name) => change(() => setTable(name))}
              />
              <div className="field">
                <label htmlFor="csv-time-format">Timestamp format</label>
                <select
                  id="csv-time-format"
                  className="input"
                  aria-describedby="csv-time-texts"
                  value={timeFormat}
                  onChange={
                    (event) => change(() => keep({ timeFormat: event.target.value as TimeFormat })) // The value of a select is one of its options.
                  }
                >
                  {TIME_FORMATS.map((each) => (
                    <option key={each} value={each}>
                      {TIME_LABELS[each]}
                    </option>
                  ))}
                </select>
                <span id="csv-time-texts" className="hint">
                  Each timestamp must be {TIME_TEXTS[timeFormat]}.
                  {timeFormat.length > 2 && ' Dates without a time zone are UTC.'}
                </span>
              </div>
            </div>
            <ColumnTable
              columns={columns}
              onChoose={(name, choice) =>
                change(() => keep({ chosen: choose(chosen, name, choice) }))
              }
            />
            <p className="hint soft">
              Columns are separated by {SEPARATOR_NAMES[head.separator]}
              {head.namelessCount > 0 &&
                `; ignored ${countOf(head.namelessCount, 'column')} without a unique name`}
            </p>
          </fieldset>
          {mapping === undefined ? (
            <p className="note warn">
              {head.rowCount === 0
                ? 'The file has a header line but no rows.'
                : table === ''
                  ? 'Enter a table name.'
                  : 'Select at least one field column.'}
            </p>
          ) : (
            <>
              {mapping.time === undefined && (
                <p className="note warn">
                  No time column is selected: all rows get the time of the write, and rows with the
                  same tags overwrite each other.
                  {columns.map(
                    ({ name, notTime }) =>
                      notTime &&
                      ` Column '${name}' looks like a time column, but line ${notTime.line} contains '${notTime.text}', which is not ${TIME_TEXTS.auto}.`,
                  )}
                </p>
              )}
              <SchemaPreview changes={changes} tableCount={1} />
              {phase === 'idle' && (
                <CsvPreview file={file} preview={preview} hasConflicts={hasConflicts} fate={fate} />
              )}
              <CsvSending
                file={file}
                state={state}
                table={mapping.table}
                hasTime={mapping.time !== undefined}
                fate={fate}
                onCancel={sending.cancel}
                onQuery={() => onQuery({ db: writtenDb, table: mapping.table })}
              >
                <WriteButton
                  db={db}
                  hasConflicts={hasConflicts}
                  hasRows={hasRows}
                  label={phase === 'idle' ? 'Write' : 'Write again'}
                  onWrite={() => void write(file, mapping)}
                />
              </CsvSending>
              <CopyBox
                label="Copy command"
                text={commandOf(mapping, { db: db || 'mydb', file: file.name })}
              />
            </>
          )}
        </>
      )}
    </div>
  );
}

/** Rows that share one timestamp overwrite each other, so the table receives fewer rows. */
function fateOf(mapping: CsvMapping | undefined): string {
  if (mapping === undefined || mapping.time !== undefined) return '';
  return mapping.tags.length === 0
    ? '; without timestamps and tags, the rows overwrite each other'
    : '; without timestamps, rows with the same tags overwrite each other';
}
