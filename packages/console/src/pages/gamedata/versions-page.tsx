import {
  type ChangedRecord,
  fetchChangesSince,
  fetchInVersion,
  fetchVersions,
  restoreVersion,
} from '@plinth/console-core/api/gamedata.js';
import { countOf, countText, timeText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { RecordDifferences } from '../../components/form/record-differences.js';
import { GameDataFrame } from './gamedata-frame.js';
import { useEditor } from './use-editor.js';

/** Lists the published versions, and restores older ones. */
export function VersionsPage() {
  return (
    <GameDataFrame tab="/gamedata/versions">
      <Versions />
    </GameDataFrame>
  );
}

function Versions() {
  const versions = useQuery({ queryKey: ['gamedata', 'versions'], queryFn: fetchVersions });
  const { missing } = useEditor();
  const { changed } = useChanges('gamedata');
  const [restoring, setRestoring] = useState<number | undefined>();
  const newest = versions.data?.[0]?.version;
  return (
    <>
      <QueryProblem of={versions} />
      <DataTable
        label="Versions"
        rows={versions.data}
        keyOf={({ version }) => version}
        columns={[
          {
            title: 'Version',
            className: 'nowrap',
            cell: ({ version }) => (
              <>
                {version} {version === newest && <span className="chip good">current</span>}
              </>
            ),
          },
          {
            title: 'Published (UTC)',
            className: 'nowrap',
            cell: ({ publishedAt }) => timeText(publishedAt),
          },
          { title: 'Editor', cell: ({ actor }) => actor },
          { title: 'Message', className: 'wide', cell: ({ message }) => message || '–' },
          {
            title: 'Records',
            className: 'num',
            cell: ({ counts }) =>
              countText(Object.values(counts).reduce((sum, each) => sum + each, 0)),
          },
          {
            title: 'Created, updated, deleted',
            className: 'num',
            cell: ({ changes: { created, updated, deleted } }) =>
              [created, updated, deleted].map(countText).join(', '),
          },
          {
            ...ACTIONS,
            cell: ({ version }) =>
              version !== newest && (
                <button
                  type="button"
                  className="button small"
                  aria-label={`Restore version ${version}`}
                  disabled={missing('admin') !== undefined}
                  title={missing('admin')}
                  onClick={() => setRestoring(version)}
                >
                  Restore …
                </button>
              ),
          },
        ]}
        empty="No versions yet. Publish the draft to create one."
      />
      {restoring !== undefined && (
        <FormDialog
          title={`Restore version ${restoring}`}
          action="Restore"
          isDanger
          canAct
          onClose={() => setRestoring(undefined)}
          act={async () => {
            const { version } = await restoreVersion(restoring);
            setRestoring(undefined);
            await changed(`Version ${restoring} restored as version ${version}`);
          }}
        >
          <p>
            A new version with the records of version {restoring} is published. Unpublished changes
            are discarded.
          </p>
          <VersionDifferences version={restoring} />
        </FormDialog>
      )}
    </>
  );
}

/** What restoring a version changes in the current one. */
function VersionDifferences({ version }: { readonly version: number }) {
  const found = useQuery({
    queryKey: ['gamedata', 'changes-since', version],
    queryFn: () => fetchChangesSince(version),
  });
  const { data } = found;
  return (
    <>
      <QueryProblem of={found} />
      {data && (
        <>
          <p role="status">
            {countOf(data.records.length, 'record')} changed since version {version}:
          </p>
          {data.isCut && <p className="hint soft">Only the first 1,000 changes are compared.</p>}
          <RecordDifferences
            queryKey={['gamedata', 'version-differences', version]}
            records={data.records.map((record) => ({
              name: `${record.kind} ${record.id}`,
              change: changeText(record),
              fetchStates: async () => ({
                before: record.isInCurrent ? await fetchInVersion(record, undefined) : undefined,
                after: record.isInOlder ? await fetchInVersion(record, version) : undefined,
              }),
            }))}
          />
        </>
      )}
    </>
  );
}

const changeText = ({ isInOlder, isInCurrent }: ChangedRecord): string => {
  if (!isInOlder) return 'will be deleted';
  return isInCurrent ? 'will be changed' : 'will be created';
};
