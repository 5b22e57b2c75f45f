import { discardDraft, stepHistory, validateDraft } from '@plinth/console-core/api/gamedata.js';
import { countOf } from '@plinth/console-core/lib/units.js';
import { useState } from 'react';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { MenuButton } from '../../components/controls/menu-button.js';
import { ProblemNote, QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { useTask } from '../../components/controls/use-task.js';
import { FaultList } from '../../components/form/fault-list.js';
import { GameDataFrame } from './gamedata-frame.js';
import { HistoryTable } from './history-table.js';
import { useEditor } from './use-editor.js';
import { isOpen, useOpenChanges } from './use-open-changes.js';

/** Unpublished changes, and the complete history. */
export function ChangesPage() {
  return (
    <GameDataFrame tab="/gamedata/changes">
      <Changes />
    </GameDataFrame>
  );
}

function Changes() {
  const { history, open } = useOpenChanges();
  const { missing } = useEditor();
  const { changed } = useChanges('gamedata');
  const { run, error, isBusy } = useTask();
  const [discarding, setDiscarding] = useState<string | undefined>();
  const [checked, setChecked] = useState<Awaited<ReturnType<typeof validateDraft>> | undefined>();
  const step = (name: 'undo' | 'redo') =>
    run(async () => {
      setChecked(undefined);
      const { entry } = await stepHistory(name);
      await changed(`Change to ${entry.type}/${entry.id} ${name === 'undo' ? 'undone' : 'redone'}`);
    });
  const isDisabled = isBusy || missing('write') !== undefined;
  const types = [...new Set(open.map(({ type }) => type ?? ''))];
  const closed = history.data?.entries.filter((entry) => !isOpen(entry));
  return (
    <>
      <div className="row wrap">
        <button
          type="button"
          className="button"
          disabled={isBusy}
          onClick={() => void run(async () => setChecked(await validateDraft()))}
        >
          Validate
        </button>
        {(['undo', 'redo'] as const).map((name) => (
          <button
            key={name}
            type="button"
            className="button"
            disabled={isDisabled}
            title={missing('write') ?? 'Your last unpublished change'}
            onClick={() => void step(name)}
          >
            {name === 'undo' ? 'Undo' : 'Redo'}
          </button>
        ))}
        {open.length > 0 && missing('write') === undefined && (
          <MenuButton
            label="Discard changes"
            entries={['', ...types].map((type) => ({
              id: type || 'all',
              label: type === '' ? 'All collections' : type,
              act: () => setDiscarding(type),
            }))}
          >
            Discard …
          </MenuButton>
        )}
      </div>
      {error !== undefined && <ProblemNote error={error} />}
      {checked && (
        <div className="stack" role="status">
          {checked.errors.length === 0 && <p className="note">The draft is valid.</p>}
          <FaultList faults={checked.errors} />
          <FaultList faults={checked.warnings} isWarning />
        </div>
      )}
      <QueryProblem of={history} />
      <section className="stack" aria-labelledby="open-title">
        <h2 id="open-title">Unpublished changes</h2>
        <HistoryTable
          entries={history.data && open}
          withRecord
          empty="No unpublished changes. Changes that editors save appear here until they are published."
        />
      </section>
      {closed !== undefined && closed.length > 0 && (
        <section className="stack" aria-labelledby="closed-title">
          <h2 id="closed-title">History</h2>
          <HistoryTable entries={closed.slice(0, 50)} withRecord empty="" />
          {history.data && history.data.total > open.length + 50 && (
            <p className="hint soft">
              Showing the newest 50 of {countOf(history.data.total - open.length, 'earlier change')}
            </p>
          )}
        </section>
      )}
      {discarding !== undefined && (
        <FormDialog
          title="Discard changes"
          action="Discard"
          isDanger
          canAct
          onClose={() => setDiscarding(undefined)}
          act={async () => {
            const { discarded } = await discardDraft(discarding);
            setDiscarding(undefined);
            await changed(`${countOf(discarded, 'changed record')} discarded`);
          }}
        >
          <p>
            All unpublished changes in {discarding === '' ? 'all collections' : discarding} will be
            discarded, including changes by other editors.
          </p>
        </FormDialog>
      )}
    </>
  );
}
