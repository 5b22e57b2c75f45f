import { fetchPublished, publishTable } from '@plinth/console-core/api/open-tables.js';
import { readerSnippets } from '@plinth/console-core/lib/reader-snippets.js';
import { countOf } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { CopyBox } from '../../components/controls/copy-button.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';

/** How other engines read a published table. Shows nothing if the table is not published. */
export function PublishedCard({ db, table }: { readonly db: string; readonly table: string }) {
  const published = useQuery({ queryKey: ['tsdb', 'open-tables'], queryFn: fetchPublished });
  const { act } = useChanges('tsdb', 'open-tables');
  const own = published.data?.filter((each) => each.db === db && each.table === table) ?? [];
  if (own.length === 0) return <QueryProblem of={published} />;
  return (
    <section className="stack" aria-labelledby="published-title">
      <div className="row wrap">
        <h2 id="published-title">Open in other engines</h2>
        <button
          type="button"
          className="button small end"
          onClick={() => void act(() => publishTable(db, table), 'Table published')}
        >
          Publish now
        </button>
      </div>
      {own.map((each) => (
        <div key={each.namespace} className="card stack published">
          <p className="row wrap">
            <code>
              {each.namespace}.{each.table}
            </code>
            <span className={`chip ${each.version === null ? 'warn' : 'good'}`}>{each.state}</span>
            <span className="soft small">
              {each.version === null
                ? (each.reason ?? 'no version yet')
                : `version ${each.version}, ${countOf(each.row_count ?? 0, 'row')}, complete until ${each.fresh_through ?? '–'}`}
            </span>
          </p>
          {each.absent_columns.length > 0 && (
            <p className="note warn">Columns not published: {each.absent_columns.join(', ')}</p>
          )}
          {readerSnippets(each, location.origin).map(([reader, text]) => (
            <div key={reader} className="field">
              <span className="label">{reader}</span>
              <CopyBox label={`Copy for ${reader}`} text={text} />
            </div>
          ))}
        </div>
      ))}
    </section>
  );
}
