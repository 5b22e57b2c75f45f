import { lineRunner } from '@plinth/console-core/api/line-runner.js';
import { Problem } from '@plinth/console-core/api/problem.js';
import { writeLines } from '@plinth/console-core/api/tsdb.js';
import {
  type RefusedGroup,
  RefusedGroups,
} from '@plinth/console-core/lib/line-protocol/refused-groups.js';
import { countOf } from '@plinth/console-core/lib/units.js';
import { readRefusals } from '@plinth/line-protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { CopyBox } from '../../../components/controls/copy-button.js';
import { ProblemNote } from '../../../components/controls/problem-note.js';
import { RefusedRows } from './refused-rows.js';
import { SchemaPreview, useSchemaChanges } from './schema-preview.js';
import { useLineCheck } from './use-line-check.js';
import { WriteButton } from './write-button.js';
import { WrittenNote, writtenText } from './written-note.js';

const PRECISIONS = ['auto', 'nanosecond', 'microsecond', 'millisecond', 'second'] as const;
const MAX_SHOWN_COUNT = 5;
const MAX_NAMED_COUNT = 10;
const EXAMPLE = 'cpu,host=a usage=12.5,cores=8i\ncpu,host=b usage=71,cores=4i';

/** Checks line protocol while it is typed, and lists the lines that the server rejects. */
export function LinesForm(props: {
  readonly db: string;
  /** Reports whether closing would lose input. */
  readonly onUnwritten: (is: boolean) => void;
  readonly onQuery: (target: { readonly db: string; readonly table: string }) => void;
}) {
  const { db, onUnwritten, onQuery } = props;
  const [precision, setPrecision] = useState<string>('auto');
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const [written, setWritten] = useState<Written>();
  const client = useQueryClient();
  // The field is uncontrolled: setting 10 MB of text on every key press would be slow.
  const field = useRef<HTMLTextAreaElement>(null);
  const textOf = () => field.current?.value ?? '';
  const { check, error: checkError, recheck } = useLineCheck(textOf);
  const { problems, problemCount, lineCount, tables, tableCount } = check;
  const changes = useSchemaChanges(db, tables);
  /** A change of the lines clears the outcome of the previous write. */
  const change = () => {
    setWritten(undefined);
    setError(undefined);
    onUnwritten(textOf() !== '');
    recheck();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the last failure may be about the name.
  useEffect(() => setError(undefined), [db]);
  const write = async () => {
    if (isBusy) return;
    setIsBusy(true);
    setError(undefined);
    setWritten(undefined);
    try {
      const outcome = await writeText({ db, precision, lines: textOf() });
      setWritten(outcome);
      onUnwritten(outcome.refusedCount > 0);
    } catch (failure) {
      setError(failure);
    } finally {
      setIsBusy(false);
      await client.invalidateQueries({ queryKey: ['tsdb'] });
    }
  };
  return (
    <div className="stack">
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
          onChange={change}
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
          {problemCount > 0 && (
            <p className="hint">
              {countOf(lineCount - problemCount, 'line')} can be written,{' '}
              {countOf(problemCount, 'line')} cannot
              {problemCount > MAX_SHOWN_COUNT &&
                `; the first ${MAX_SHOWN_COUNT} errors are shown above`}
            </p>
          )}
        </div>
        <SchemaPreview changes={changes} tableCount={tableCount} />
      </div>
      {(error ?? checkError) !== undefined && <ProblemNote error={error ?? checkError} />}
      {written !== undefined && (
        <>
          <WrittenNote
            isWarning={written.refusedCount > 0}
            table={written.first?.table}
            onQuery={written.first && onQuery.bind(undefined, written.first)}
          >
            {writtenText('line', written)}.
          </WrittenNote>
          <RefusedRows refused={written.refused} refusedCount={written.unseenCount} />
        </>
      )}
      <div className="row wrap">
        <span className="row">
          <label className="small" htmlFor="write-precision">
            Timestamp precision
          </label>
          <select
            id="write-precision"
            className="input"
            value={precision}
            onChange={(event) => setPrecision(event.target.value)}
          >
            {PRECISIONS.map((each) => (
              <option key={each} value={each}>
                {each === 'auto' ? 'auto-detect' : `${each}s`}
              </option>
            ))}
          </select>
        </span>
        <span className="dialog-actions wrap end">
          <button
            type="button"
            className="button"
            onClick={() => {
              if (field.current !== null) field.current.value = EXAMPLE;
              change();
            }}
          >
            Insert example
          </button>
          <WriteButton
            db={db}
            hasConflicts={changes.some(({ conflicts }) => conflicts.length > 0)}
            hasRows={lineCount > 0}
            label={isBusy ? 'Writing …' : 'Write'}
            onWrite={() => void write()}
          />
        </span>
      </div>
      <CopyBox
        label="Copy command"
        text={`curl "${location.origin}/api/v3/write_lp?db=${encodeURIComponent(db || 'mydb')}&precision=${precision}" \\\n  -H "Authorization: Bearer $PLINTH_TOKEN" \\\n  --data-binary @lines.txt`}
      />
    </div>
  );
}

interface Written {
  readonly writtenCount: number;
  readonly refusedCount: number;
  readonly isOpen: boolean;
  /** Rejected lines that the local check did not report. */
  readonly refused: readonly RefusedGroup[];
  readonly unseenCount: number;
  /** The first table; absent when nothing was written. */
  readonly first: { readonly db: string; readonly table: string } | undefined;
}

/** A partial write resolves with the rejected lines. Throws `Problem` for any other failure. */
async function writeText(at: Parameters<typeof writeLines>[0]): Promise<Written> {
  const { lineCount, tables, problems } = await lineRunner.check(at.lines);
  const [shape] = tables;
  const first = shape && { db: at.db, table: shape.table };
  const none = { refusedCount: 0, isOpen: false, refused: [], unseenCount: 0 };
  try {
    await writeLines(at);
    return { ...none, writtenCount: lineCount, first };
  } catch (failure) {
    const refusals = failure instanceof Problem ? readRefusals(failure.body) : undefined;
    if (refusals === undefined) throw failure;
    const { lines, isCut, isWhole } = refusals;
    const refused = new RefusedGroups();
    const seen = new Set(problems.slice(0, MAX_SHOWN_COUNT).map(({ line }) => line));
    const unseen = lines.filter(({ line }) => !seen.has(line));
    for (const row of unseen) refused.add(row);
    const refusedCount = isWhole ? lineCount : lines.length;
    return {
      ...{ writtenCount: lineCount - refusedCount, refusedCount, refused: refused.list },
      ...{ unseenCount: unseen.length, isOpen: isCut && !isWhole },
      first: isWhole ? undefined : first,
    };
  }
}

function namesOf(tables: readonly { readonly table: string }[], count: number): string {
  const names = tables.slice(0, MAX_NAMED_COUNT).map(({ table }) => table);
  const hiddenCount = count - names.length;
  return hiddenCount > 0
    ? `${names.join(', ')} and ${countOf(hiddenCount, 'other')}`
    : names.join(', ');
}
