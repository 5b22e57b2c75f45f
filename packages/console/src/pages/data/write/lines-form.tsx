import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { writeLines } from '../../../api/tsdb.js';
import { CopyBox } from '../../../components/controls/copy-button.js';
import { ProblemNote } from '../../../components/controls/problem-note.js';
import { toast } from '../../../components/controls/toasts.js';
import { countOf, countText } from '../../../lib/units.js';
import { SchemaPreview } from './schema-preview.js';
import { useLineCheck } from './use-line-check.js';
import { WrittenNote } from './written-note.js';

const PRECISIONS = ['auto', 'nanosecond', 'microsecond', 'millisecond', 'second'] as const;
const MAX_SHOWN_COUNT = 5;
const MAX_NAMED_COUNT = 10;
const EXAMPLE = 'cpu,host=a usage=12.5,cores=8i\ncpu,host=b usage=71,cores=4i';

/** Line protocol, looked at while it is typed; what the server refuses is told line by line. */
export function LinesForm(props: {
  readonly db: string;
  readonly onQuery: (table: string) => void;
}) {
  const { db, onQuery } = props;
  const [precision, setPrecision] = useState<string>('auto');
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const [written, setWritten] = useState<{ readonly db: string; readonly table: string }>();
  const client = useQueryClient();
  // The text stays in the field: ten megabytes are not set anew with every key.
  const field = useRef<HTMLTextAreaElement>(null);
  const textOf = () => field.current?.value ?? '';
  const { check, error: checkError, look } = useLineCheck(textOf);
  const { problems, problemCount, lineCount, tables, tableCount } = check;
  const [first] = tables;
  const write = async () => {
    setIsBusy(true);
    setError(undefined);
    setWritten(undefined);
    try {
      await writeLines({ db, precision, lines: textOf() });
      toast(`${countOf(lineCount, 'line')} written`);
      if (first !== undefined) setWritten({ db, table: first.table });
    } catch (failure) {
      setError(failure);
    } finally {
      setIsBusy(false);
      await client.invalidateQueries({ queryKey: ['tsdb'] });
    }
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void write();
      }}
    >
      <div className="field">
        <label htmlFor="write-lines">Lines</label>
        <textarea
          ref={field}
          id="write-lines"
          className="input"
          rows={12}
          spellCheck={false}
          placeholder={EXAMPLE}
          aria-describedby="write-check"
          onChange={look}
        />
        <div id="write-check" role="status">
          {problemCount === 0 ? (
            <span className="hint">
              {lineCount === 0
                ? 'table,tag=value field=1.5 time'
                : `${countOf(lineCount, 'line')} for ${namesOf(tables, tableCount)}`}
            </span>
          ) : (
            problems.slice(0, MAX_SHOWN_COUNT).map(({ line, column, message }) => (
              <p key={`${line} ${column}`} className="field-error">
                line {line}, column {column}: {message}
              </p>
            ))
          )}
          {problemCount > MAX_SHOWN_COUNT && (
            <p className="hint">
              {MAX_SHOWN_COUNT} of {countText(problemCount)} lines with mistakes
            </p>
          )}
        </div>
        <SchemaPreview db={db} shapes={tables} tableCount={tableCount} />
      </div>
      {(error ?? checkError) !== undefined && <ProblemNote error={error ?? checkError} />}
      {written !== undefined && (
        <WrittenNote onQuery={() => onQuery(written.table)}>Written to {written.db}.</WrittenNote>
      )}
      <div className="row wrap">
        <span className="row">
          <label className="small" htmlFor="write-precision">
            Precision of times
          </label>
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
        </span>
        <span className="row end">
          <button
            type="button"
            className="button"
            onClick={() => {
              if (field.current !== null) field.current.value = EXAMPLE;
              look();
            }}
          >
            Put in an example
          </button>
          <button
            type="submit"
            className="button primary"
            disabled={db === '' || lineCount === 0 || isBusy}
          >
            {isBusy ? 'Writing …' : 'Write'}
          </button>
        </span>
      </div>
      <CopyBox
        label="Copy the command"
        text={`curl "${location.origin}/api/v3/write_lp?db=${encodeURIComponent(db || 'mydb')}&precision=${precision}" \\\n  -H "Authorization: Bearer $PLINTH_TOKEN" \\\n  --data-binary @lines.txt`}
      />
    </form>
  );
}

function namesOf(tables: readonly { readonly table: string }[], count: number): string {
  const names = tables.slice(0, MAX_NAMED_COUNT).map(({ table }) => table);
  const hiddenCount = count - names.length;
  return hiddenCount > 0
    ? `${names.join(', ')} and ${countOf(hiddenCount, 'other')}`
    : names.join(', ');
}
