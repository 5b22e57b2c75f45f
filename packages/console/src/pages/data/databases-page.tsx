import {
  changeDatabase,
  createDatabase,
  type Database,
  deleteDatabase,
  fetchDatabases,
  undeleteDatabase,
} from '@plinth/console-core/api/tsdb.js';
import { bytesText, countOf, countText, retentionText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { Icon } from '../../components/controls/icon.js';
import { MenuButton } from '../../components/controls/menu-button.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { SearchBox, SearchCheckbox } from '../../components/search/search-fields.js';
import { SectionTabs } from '../../components/shell/section-tabs.js';
import { DatabaseDialog } from './database-dialog.js';
import { extentText } from './extent-text.js';
import { WriteDrawer } from './write/write-drawer.js';

type Open =
  | { readonly kind: 'create' | 'write' }
  | { readonly kind: 'change' | 'delete'; readonly database: Database };

/** Lists the databases, with the actions for each. */
export function DatabasesPage() {
  const search = useSearch({ strict: false }) as Record<string, string>;
  const { find = '', deleted = '' } = search;
  const [open, setOpen] = useState<Open | undefined>(
    search['write'] === '1' ? { kind: 'write' } : undefined,
  );
  const isWithDeleted = deleted === '1';
  const databases = useQuery({
    queryKey: ['tsdb', 'databases', find, isWithDeleted],
    queryFn: () => fetchDatabases({ find, deleted: isWithDeleted }),
    placeholderData: (before) => before,
  });
  const { act, changed } = useChanges('tsdb');
  const undelete = (name: string) => act(() => undeleteDatabase(name), `${name} restored`);
  const list = databases.data ?? [];
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Databases</h1>
        <SearchBox label="Find database" placeholder="Find database" />
        <SearchCheckbox label="Show deleted" name="deleted" />
        <span className="row end">
          <button type="button" className="button" onClick={() => setOpen({ kind: 'write' })}>
            <Icon name="edit" size={14} /> Write
          </button>
          <button
            type="button"
            className="button primary"
            onClick={() => setOpen({ kind: 'create' })}
          >
            <Icon name="plus" size={14} /> Create database
          </button>
        </span>
      </header>
      <SectionTabs section="/data" />
      <QueryProblem of={databases} />
      <DataTable
        label="Databases"
        rows={databases.data}
        empty={`No databases match “${find}”.`}
        keyOf={({ name, deleted_at }) => `${name} ${deleted_at}`}
        columns={[
          {
            title: 'Database',
            cell: (database) => {
              const { name, deleted_at, hard_delete_at } = database;
              return (
                <>
                  {deleted_at === null ? (
                    <Link to="/data/$db" params={{ db: name }}>
                      {name}
                    </Link>
                  ) : (
                    <span className="row">
                      {name}
                      <span className="chip warn">
                        deleted
                        {hard_delete_at ? `, purged on ${hard_delete_at.slice(0, 10)}` : ''}
                      </span>
                    </span>
                  )}
                </>
              );
            },
          },
          {
            title: 'Tables',
            className: 'num',
            cell: (database) => countText(database.table_count),
          },
          { title: 'Rows', className: 'num', cell: (database) => countText(database.row_count) },
          { title: 'Size', className: 'num', cell: (database) => bytesText(database.size_bytes) },
          {
            title: 'Time range (UTC)',
            className: 'nowrap',
            cell: (database) => extentText(database),
          },
          {
            title: 'Retention',
            className: 'nowrap',
            cell: (database) => retentionText(database.retention_ns),
          },
          {
            title: 'New integer fields',
            className: 'nowrap',
            cell: (database) => database.integer_fields,
          },
          {
            ...ACTIONS,
            cell: (database) => {
              const { name, deleted_at } = database;
              return (
                <>
                  {name !== '_internal' && (
                    <MenuButton
                      label={`Actions for ${name}`}
                      className="small quiet"
                      entries={
                        deleted_at === null
                          ? [
                              {
                                id: 'change',
                                label: 'Change',
                                act: () => setOpen({ kind: 'change', database }),
                              },
                              {
                                id: 'delete',
                                label: 'Delete …',
                                act: () => setOpen({ kind: 'delete', database }),
                              },
                            ]
                          : [
                              {
                                id: 'undelete',
                                label: 'Restore',
                                act: () => void undelete(name),
                              },
                            ]
                      }
                    >
                      …
                    </MenuButton>
                  )}
                </>
              );
            },
          },
        ]}
      />
      <p className="hint soft">
        {countText(list.length)} {list.length === 1 ? 'database' : 'databases'}. Row counts include
        duplicate points until compaction.
      </p>
      {open?.kind === 'create' && (
        <DatabaseDialog
          title="Create database"
          action="Create"
          onClose={() => setOpen(undefined)}
          act={async (name, settings) => {
            await createDatabase(name, settings);
            await changed(`${name} created`);
          }}
        />
      )}
      {open?.kind === 'change' && (
        <DatabaseDialog
          title={`Change ${open.database.name}`}
          action="Change"
          database={open.database}
          onClose={() => setOpen(undefined)}
          act={async (name, settings) => {
            await changeDatabase(name, settings);
            await changed(`${name} changed`);
          }}
        />
      )}
      {open?.kind === 'delete' && (
        <ConfirmDelete
          what="database"
          name={open.database.name}
          loss={`${countOf(open.database.table_count, 'table')} with ${countOf(open.database.row_count, 'row')} will be hidden immediately. To restore it, choose “Show deleted” before its data is purged.`}
          onClose={() => setOpen(undefined)}
          act={async () => {
            await deleteDatabase(open.database.name);
            await changed(`${open.database.name} deleted`);
          }}
        />
      )}
      {open?.kind === 'write' && <WriteDrawer db="" onClose={() => setOpen(undefined)} />}
    </div>
  );
}
