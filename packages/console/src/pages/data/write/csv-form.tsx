import {
  type CsvMapping,
  type Separator,
  TIME_FORMATS,
  TIME_TEXTS,
  type TimeFormat,
} from '@plinth/line-protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { lineRunner } from '../../../api/line-runner.js';
import { CopyBox } from '../../../components/controls/copy-button.js';
import { ProblemNote } from '../../../components/controls/problem-note.js';
import { TextField } from '../../../components/controls/text-field.js';
import {
  type Choices,
  choose,
  chooseColumns,
  commandOf,
  mappingOf,
  tableNameOf,
} from '../../../lib/line-protocol/csv-columns.js';
import { countOf } from '../../../lib/units.js';
import { ColumnTable } from './column-table.js';
import { CsvPreview } from './csv-preview.js';
import { CsvSending } from './csv-sending.js';
import { FileChoice } from './file-choice.js';
import { SchemaPreview, useSchemaChanges } from './schema-preview.js';
import { IDLE, useCsvHead, useCsvLook, useCsvRun } from './use-csv.js';
import { useKnownTables } from './use-known-tables.js';
import { WriteButton } from './write-button.js';

const TIME_WORDS: Readonly<Record<TimeFormat, string>> = {
  auto: 'auto: dates, or numbers by size',
  rfc3339: 'dates such as 2024-12-30T08:00:00Z',
  s: 'seconds since 1970',
  ms: 'milliseconds since 1970',
  us: 'microseconds since 1970',
  ns: 'nanoseconds since 1970',
};
const SEPARATOR_WORDS: Readonly<Record<Separator, string>> = {
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
/** By names of columns; for the next drawer of this page, too. */
let lastKept: ReadonlyMap<string, Kept> = new Map();

/** A CSV file becomes a table: what its columns are is guessed, looked at and changed before anything is sent. */
export function CsvForm(props: {
  readonly db: string;
  readonly onSending: (isSending: boolean) => void;
  /** Whether something typed or chosen would be lost. */
  readonly onUnwritten: (is: boolean) => void;
  readonly onQuery: (of: { readonly db: string; readonly table: string }) => void;
}) {
  const { db, onSending, onUnwritten, onQuery } = props;
  const [file, setFile] = useState<File | undefined>();
  const [table, setTable] = useState('');
  const [kept, setKept] = useState(lastKept);
  const [writtenDb, setWrittenDb] = useState(db);
  const { head, error } = useCsvHead(file);
  // The next file with these columns is chosen for alike.
  const key = JSON.stringify(head?.columns.map(({ name }) => name));
  const { timeFormat, chosen } = kept.get(key) ?? NOTHING_CHOSEN;
  const keep = (part: Partial<Kept>) => {
    const others = [...kept].filter(([each]) => each !== key).slice(1 - MAX_KEPT_COUNT);
    lastKept = new Map([...others, [key, { timeFormat, chosen, ...part }]]);
    setKept(lastKept);
  };
  const sending = useCsvRun();
  // What has failed may be the name of the database.
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
  const look = useCsvLook(phase === 'idle' ? file : undefined, mapping);
  const hasRows = look.phase === 'running' || look.progress?.rowCount !== 0;
  const changes = useSchemaChanges(db, mapping === undefined || !hasRows ? [] : [mapping]);
  const hasConflicts = changes.some(({ conflicts }) => conflicts.length > 0);
  const fate = fateOf(mapping);
  const client = useQueryClient();
  /** What is said of the last sending is not about what is chosen anew. */
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
        <p className="note warn">The file has no line with names of columns.</p>
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
                <label htmlFor="csv-time-format">Times are</label>
                <select
                  id="csv-time-format"
                  className="input"
                  aria-describedby="csv-time-texts"
                  value={timeFormat}
                  onChange={
                    (event) => change(() => keep({ timeFormat: event.target.value as TimeFormat })) // One of the options below.
                  }
                >
                  {TIME_FORMATS.map((each) => (
                    <option key={each} value={each}>
                      {TIME_WORDS[each]}
                    </option>
                  ))}
                </select>
                <span id="csv-time-texts" className="hint">
                  Each is {TIME_TEXTS[timeFormat]}.
                  {timeFormat.length > 2 && ' Without a zone, dates are UTC.'}
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
              Columns are separated by {SEPARATOR_WORDS[head.separator]}
              {head.namelessCount > 0 &&
                `; ${countOf(head.namelessCount, 'column')} without a name of ${head.namelessCount === 1 ? 'its' : 'their'} own left out`}
            </p>
          </fieldset>
          {mapping === undefined ? (
            <p className="note warn">
              {head.rowCount === 0
                ? 'Below the names of its columns the file has no rows.'
                : table === ''
                  ? 'The table needs a name.'
                  : 'At least one column has to be a field.'}
            </p>
          ) : (
            <>
              {mapping.time === undefined && (
                <p className="note warn">
                  No column is the time: all rows get the time at which they arrive, and of those
                  with the same tags the last one stays.
                  {columns.map(
                    ({ name, notTime }) =>
                      notTime &&
                      ` Column '${name}' is named like one, but line ${notTime.line} has '${notTime.text}', which is not ${TIME_TEXTS.auto}.`,
                  )}
                </p>
              )}
              <SchemaPreview changes={changes} tableCount={1} />
              {phase === 'idle' && (
                <CsvPreview file={file} look={look} hasConflicts={hasConflicts} fate={fate} />
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
                label="Copy the command"
                text={commandOf(mapping, { db: db || 'mydb', file: file.name })}
              />
            </>
          )}
        </>
      )}
    </div>
  );
}

/** Rows that all get one time are fewer in the table. */
function fateOf(mapping: CsvMapping | undefined): string {
  if (mapping === undefined || mapping.time !== undefined) return '';
  return mapping.tags.length === 0
    ? '; without times and tags they overwrite one another'
    : '; without times those with the same tags overwrite one another';
}
