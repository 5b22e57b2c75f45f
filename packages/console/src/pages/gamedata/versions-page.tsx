import { fetchVersions, restoreVersion } from '@plinth/console-core/api/gamedata.js';
import { countText, timeText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
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
        </FormDialog>
      )}
    </>
  );
}
