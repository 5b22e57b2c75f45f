import { accountFaultsOf, type Versioned } from '@plinth/console-core/api/accounts.js';
import { Problem } from '@plinth/console-core/api/problem.js';
import { storedValues } from '@plinth/console-core/lib/account-form.js';
import type { RecordField, Values } from '@plinth/console-core/lib/form/record-fields.js';
import { changesOf, fromLeaves, leavesOf } from '@plinth/console-core/lib/form/request-changes.js';
import { useMemo, useState } from 'react';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { useDraft } from '../../components/controls/use-draft.js';
import { useTask } from '../../components/controls/use-task.js';
import { ConflictPanel } from '../../components/form/conflict-panel.js';
import { GroupedForm } from '../../components/form/grouped-form.js';

interface Base {
  readonly values: Values;
  readonly etag: string;
}

const baseOf = (fields: readonly RecordField[], { object, etag }: Versioned): Base => ({
  values: storedValues(fields, object),
  etag,
});

/**
 * Edits an account or a person, or creates one. Only changes are sent, so the values of other editors are kept.
 * Changes are kept in this tab until they are saved.
 */
export function ObjectEditor(props: {
  readonly what: 'account' | 'person' | 'platform';
  readonly draftKey: string;
  readonly fields: readonly RecordField[];
  /** `undefined` for a new object. */
  readonly stored: Versioned | undefined;
  readonly action: string;
  /** Why the object cannot be changed. */
  readonly refusal?: string | undefined;
  /** Throws a `Problem` with the status 412 if another editor changed the object. */
  readonly save: (change: { readonly body: Values; readonly etag: string }) => Promise<unknown>;
  readonly fetchStored?: () => Promise<Versioned>;
}) {
  const { what, fields, stored, action, refusal, save, fetchStored } = props;
  const base = useMemo(
    () => (stored === undefined ? { values: {}, etag: '' } : baseOf(fields, stored)),
    [stored, fields],
  );
  const atFirst = { text: JSON.stringify(base.values), base: JSON.stringify(base) };
  const draft = useDraft(props.draftKey, atFirst, true);
  const [theirs, setTheirs] = useState<Base | undefined>();
  const { run, error, isBusy } = useTask();
  const mine = useMemo(() => JSON.parse(draft.text) as Values, [draft.text]);
  const edited = useMemo(() => JSON.parse(draft.base) as Base, [draft.base]);
  const body = changesOf(fields, edited.values, mine);
  const isChanged = Object.keys(body).length > 0;
  const act = () =>
    run(async () => {
      try {
        await save({ body, etag: edited.etag });
      } catch (failure) {
        const isOutdated = failure instanceof Problem && failure.status === 412;
        if (!isOutdated || fetchStored === undefined) throw failure;
        setTheirs(baseOf(fields, await fetchStored()));
        return;
      }
      draft.revert();
    });
  const faults = accountFaultsOf(error);
  return (
    <>
      <div className="row wrap">
        {isChanged && <span className="chip warn">● unsaved</span>}
        <span className="row wrap end">
          {isChanged && (
            <button type="button" className="button" onClick={draft.revert}>
              Revert
            </button>
          )}
          <button
            type="button"
            className="button primary"
            disabled={!isChanged || isBusy || theirs !== undefined || refusal !== undefined}
            title={refusal}
            onClick={() => void act()}
          >
            {action}
          </button>
        </span>
      </div>
      {refusal !== undefined && <p className="note">{refusal}</p>}
      {error !== undefined && <ProblemNote error={error} />}
      {theirs !== undefined && (
        <ConflictPanel
          what={what}
          base={leavesOf(fields, edited.values)}
          theirs={leavesOf(fields, theirs.values)}
          mine={leavesOf(fields, mine)}
          onResolve={(merged) => {
            draft.change(JSON.stringify(fromLeaves(fields, merged)), JSON.stringify(theirs));
            setTheirs(undefined);
          }}
        />
      )}
      <GroupedForm
        label={`${what.charAt(0).toUpperCase()}${what.slice(1)}`}
        {...{ fields, faults }}
        values={mine}
        stored={stored && edited.values}
        onChange={(values) => draft.change(JSON.stringify(values), draft.base)}
      />
      {isChanged && (
        <details>
          <summary>Request body</summary>
          <pre className="record-value">{JSON.stringify(body, null, 2)}</pre>
        </details>
      )}
    </>
  );
}
