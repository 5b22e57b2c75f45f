import {
  type SchemaChange,
  schemaChange,
} from '@plinth/console-core/lib/line-protocol/schema-change.js';
import { countOf } from '@plinth/console-core/lib/units.js';
import type { TableShape } from '@plinth/line-protocol';
import { Icon } from '../../../components/controls/icon.js';
import { useKnownTables } from './use-known-tables.js';

const MAX_SHOWN_COUNT = 5;

type Change = SchemaChange & { readonly table: string };

/** The schema changes that a write would make, for the first `MAX_SHOWN_COUNT` tables. */
export function useSchemaChanges(db: string, all: readonly TableShape[]): readonly Change[] {
  const shapes = all.slice(0, MAX_SHOWN_COUNT);
  const known = useKnownTables(
    db,
    shapes.map(({ table }) => table),
  );
  return shapes.flatMap((shape, index) => {
    const columns = known[index];
    if (columns === undefined) return [];
    const change = schemaChange(shape, columns === 'new' ? undefined : columns);
    return [{ table: shape.table, ...change }];
  });
}

export function SchemaPreview(props: {
  readonly changes: readonly Change[];
  readonly tableCount: number;
}) {
  const { changes, tableCount } = props;
  const hiddenCount = tableCount - MAX_SHOWN_COUNT;
  return (
    <div className="schema-preview" role="status" aria-label="Schema">
      {changes.map(({ table, what, conflicts }) => (
        <div key={table}>
          {what !== '' && <p className="hint">{what}</p>}
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
