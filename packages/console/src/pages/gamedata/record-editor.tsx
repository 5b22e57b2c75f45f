import {
  faultsOf,
  fetchPublished,
  fetchRecord,
  fetchSchemas,
  type LoadedRecord,
  saveRecord,
} from '@plinth/console-core/api/gamedata.js';
import { Problem } from '@plinth/console-core/api/problem.js';
import type { Fault } from '@plinth/console-core/lib/form/fault.js';
import {
  parseRecord,
  SCHEMA_NAMES,
  type Values,
} from '@plinth/console-core/lib/form/record-fields.js';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ProblemNote, QueryProblem } from '../../components/controls/problem-note.js';
import { toast } from '../../components/controls/toasts.js';
import { useDraft } from '../../components/controls/use-draft.js';
import { useTask } from '../../components/controls/use-task.js';
import { ConflictPanel } from '../../components/form/conflict-panel.js';
import { FaultList } from '../../components/form/fault-list.js';
import { RecordForm } from '../../components/form/record-form.js';
import { PublishDialog } from './publish-dialog.js';
import { RecordJson } from './record-json.js';
import { useEditor } from './use-editor.js';

const jsonText = (record: object): string => JSON.stringify(record, null, 2);

interface Conflict {
  readonly base: Values;
  readonly theirs: LoadedRecord;
  readonly mine: Values;
}

/** Edits a record as a form or as JSON. Changes are kept in this tab until they are saved to the draft. */
export function RecordEditor(props: {
  readonly kind: string;
  readonly stored: LoadedRecord;
  readonly isJson: boolean;
}) {
  const { kind, stored, isJson } = props;
  const { id } = stored.record;
  const client = useQueryClient();
  const { missing } = useEditor();
  const [isPublishing, setIsPublishing] = useState(false);
  const [conflict, setConflict] = useState<Conflict | undefined>();
  const draft = useDraft(`gamedata ${kind} ${id}`, {
    text: jsonText(stored.record),
    base: JSON.stringify(stored),
  });
  const published = useQuery({
    queryKey: ['gamedata', 'published', kind, id],
    queryFn: async () => (await fetchPublished(kind, id)) ?? null,
  });
  const { run, error, isBusy } = useTask();
  const values = parseRecord(draft.text);
  /** Returns false if another editor has changed the record. */
  const save = async (): Promise<boolean> => {
    if (!draft.isChanged || values === undefined) return true;
    const base = JSON.parse(draft.base) as LoadedRecord;
    try {
      await saveRecord(kind, values, { id, etag: base.etag });
    } catch (failure) {
      if (!(failure instanceof Problem) || failure.status !== 412) throw failure;
      const theirs = await fetchRecord(kind, id);
      setConflict({ base: base.record, theirs, mine: values });
      return false;
    }
    await client.invalidateQueries({ queryKey: ['gamedata'] });
    draft.revert();
    return true;
  };
  const saveOnly = () => run(async () => (await save()) && toast('Saved to the draft'));
  const publish = () => run(async () => (await save()) && setIsPublishing(true));
  return (
    <>
      <EditorActions
        {...{ isBusy, missing, isChanged: draft.isChanged, isValid: values !== undefined }}
        onRevert={draft.revert}
        onSave={() => void saveOnly()}
        onPublish={() => void publish()}
      />
      {conflict && (
        <ConflictPanel
          base={conflict.base}
          theirs={conflict.theirs.record}
          mine={conflict.mine}
          onResolve={(merged) => {
            draft.change(jsonText(merged), JSON.stringify(conflict.theirs));
            setConflict(undefined);
          }}
        />
      )}
      <EditedRecord
        {...{ kind, isJson, text: draft.text, values, error }}
        published={published.data ?? undefined}
        onText={(text) => draft.change(text)}
        onValues={(next) => draft.change(jsonText(next))}
      />
      {isPublishing && <PublishDialog onClose={() => setIsPublishing(false)} />}
    </>
  );
}

/** Creates a record from JSON, because its id and required members are unknown. */
export function NewRecord({ kind }: { readonly kind: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { missing } = useEditor();
  const draft = useDraft(`gamedata ${kind}`, { text: jsonText(emptyRecord(kind)), base: '' });
  const { run, error, isBusy } = useTask();
  const values = parseRecord(draft.text);
  const save = () =>
    run(async () => {
      const { id } = await saveRecord(kind, values ?? {}, undefined);
      draft.revert();
      await client.invalidateQueries({ queryKey: ['gamedata'] });
      toast('Saved to the draft');
      await navigate({ to: '/gamedata/$kind/$id', params: { kind, id } });
    });
  return (
    <>
      <EditorActions
        {...{ isBusy, missing, isChanged: true, isValid: values !== undefined }}
        onRevert={draft.revert}
        onSave={() => void save()}
      />
      <EditedRecord
        {...{ kind, isJson: false, text: draft.text, values, error, isNew: true }}
        published={undefined}
        onText={(text) => draft.change(text)}
        onValues={(next) => draft.change(jsonText(next))}
      />
    </>
  );
}

const emptyRecord = (kind: string): object => {
  if (kind === 'levels') return { id: '', level: 0, exp: 0 };
  return kind === 'quests' ? { id: '', title: '' } : { id: '', name: '' };
};

function EditorActions(props: {
  readonly isBusy: boolean;
  readonly isChanged: boolean;
  readonly isValid: boolean;
  readonly missing: ReturnType<typeof useEditor>['missing'];
  readonly onRevert: () => void;
  readonly onSave: () => void;
  readonly onPublish?: () => void;
}) {
  const { isBusy, isChanged, isValid, missing, onRevert, onSave, onPublish } = props;
  return (
    <div className="row wrap">
      {isChanged && <span className="chip warn">● unsaved</span>}
      <span className="row wrap end">
        {isChanged && (
          <button type="button" className="button" onClick={onRevert}>
            Revert
          </button>
        )}
        <button
          type="button"
          className="button"
          disabled={!isChanged || !isValid || isBusy || missing('write') !== undefined}
          title={missing('write')}
          onClick={onSave}
        >
          Save to draft
        </button>
        {onPublish && (
          <button
            type="button"
            className="button primary"
            disabled={!isValid || isBusy || missing('publish') !== undefined}
            title={missing('publish')}
            onClick={onPublish}
          >
            Publish …
          </button>
        )}
      </span>
    </div>
  );
}

function EditedRecord(props: {
  readonly kind: string;
  readonly isJson: boolean;
  readonly isNew?: boolean;
  readonly text: string;
  readonly values: Values | undefined;
  readonly published: Values | undefined;
  readonly error: unknown;
  readonly onText: (text: string) => void;
  readonly onValues: (values: Values) => void;
}) {
  const { kind, isJson, isNew = false, text, values, published, error, onText, onValues } = props;
  const schemas = useQuery({
    queryKey: ['gamedata-schemas'], // not below `gamedata`, which every change invalidates
    queryFn: fetchSchemas,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const schema = schemas.data?.[SCHEMA_NAMES[kind] ?? ''];
  const faults: readonly Fault[] = faultsOf(error);
  return (
    <>
      {error !== undefined && <ProblemNote error={error} />}
      <QueryProblem of={schemas} />
      {isJson ? (
        <>
          <FaultList faults={faults} />
          <RecordJson text={text} isValid={values !== undefined} onChange={onText} />
        </>
      ) : values === undefined ? (
        <p className="note bad">The JSON of this record is invalid. Fix it in the JSON tab.</p>
      ) : (
        schema !== undefined && (
          <RecordForm {...{ schema, values, published, faults, isNew }} onChange={onValues} />
        )
      )}
    </>
  );
}
