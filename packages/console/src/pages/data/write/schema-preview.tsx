import type { TableShape } from '@plinth/line-protocol';
import { Icon } from '../../../components/controls/icon.js';
import { schemaChange } from '../../../lib/line-protocol/schema-change.js';
import { countOf } from '../../../lib/units.js';
import { useKnownTables } from './use-known-tables.js';

const MAX_SHOWN_COUNT = 5;

/** What a write makes of tables, before it is sent. */
export function SchemaPreview(props: {
  readonly db: string;
  readonly shapes: readonly TableShape[];
  /** Of which the shapes are the first. */
  readonly tableCount: number;
}) {
  const { db, tableCount } = props;
  const shapes = props.shapes.slice(0, MAX_SHOWN_COUNT);
  const known = useKnownTables(
    db,
    shapes.map(({ table }) => table),
  );
  const changes = shapes.flatMap((shape, index) => {
    const columns = known[index];
    if (columns === undefined) return [];
    return [{ shape, ...schemaChange(shape, columns === 'new' ? undefined : columns) }];
  });
  const hiddenCount = tableCount - shapes.length;
  return (
    <div className="schema-preview" role="status" aria-label="Schema">
      {changes.map(({ shape, what, conflicts }) => (
        <div key={shape.table}>
          <p className="hint">{what}</p>
          {conflicts.map((text) => (
            <p key={text} className="field-error row">
              <Icon name="warn" size={14} />
              <span>{text}</span>
            </p>
          ))}
        </div>
      ))}
      {changes.length > 0 && hiddenCount > 0 && (
        <p className="hint soft">and {countOf(hiddenCount, 'more table')}</p>
      )}
    </div>
  );
}
