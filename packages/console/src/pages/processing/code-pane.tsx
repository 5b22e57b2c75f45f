import {
  fetchPluginCode,
  savePluginCode,
  type Trigger,
} from '@plinth/console-core/api/processing.js';
import { errorPosition } from '@plinth/console-core/lib/plugins/trigger-runs.js';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { ProblemNote, QueryProblem } from '../../components/controls/problem-note.js';
import { toast } from '../../components/controls/toasts.js';
import { useDraft } from '../../components/controls/use-draft.js';
import { useTask } from '../../components/controls/use-task.js';
import { CodeEditor } from '../../components/editor/code-editor.js';
import type { MountEditor } from '../../components/editor/mount-editor.js';
import { DryRunPane, useDryRun } from './dry-run-pane.js';

const loadPython = async (): Promise<MountEditor> =>
  (await import('../../components/editor/mount-python.js')).mountPython;

/** The code of a plugin with a dry run beside it. */
export function CodePane({ db, trigger }: { readonly db: string; readonly trigger: Trigger }) {
  const { plugin_filename: plugin } = trigger;
  const [path, setPath] = useState(plugin);
  const top = useQuery({
    queryKey: ['tsdb', 'plugin-code', plugin],
    queryFn: () => fetchPluginCode(plugin),
  });
  const files = top.data?.files ?? [];
  return (
    <>
      <QueryProblem of={top} />
      {files.length > 1 && <FileChoice files={files} path={path} onChange={setPath} />}
      {top.data && <FileCode key={path} db={db} trigger={trigger} path={path} files={files} />}
    </>
  );
}

function FileChoice(props: {
  readonly files: readonly string[];
  readonly path: string;
  readonly onChange: (path: string) => void;
}) {
  const { files, path, onChange } = props;
  const id = useId();
  return (
    <span className="row small">
      <label htmlFor={id}>File</label>
      <select
        id={id}
        className="input mono"
        value={files.includes(path) ? path : `${path}/__init__.py`}
        onChange={(event) => onChange(event.target.value)}
      >
        {files.map((file) => (
          <option key={file}>{file}</option>
        ))}
      </select>
    </span>
  );
}

function FileCode(props: {
  readonly db: string;
  readonly trigger: Trigger;
  readonly path: string;
  readonly files: readonly string[];
}) {
  const { db, trigger, path, files } = props;
  const queryKey = ['tsdb', 'plugin-code', path];
  const client = useQueryClient();
  const titleId = useId();
  const code = useQuery({ queryKey, queryFn: () => fetchPluginCode(path) });
  const draft = useDraft(
    `plugin ${path}`,
    code.data && { text: code.data.content, base: code.data.sha256 },
  );
  const { run, error, isBusy } = useTask();
  const [isConflict, setIsConflict] = useState(false);
  const isFetched = path.startsWith('gh:');
  const isFolder = files.length > 0;
  // The code of a folder imports its other files, so only the stored files run together.
  const dry = useDryRun({
    ...{ db, trigger },
    code: draft.isChanged && !isFolder ? draft.text : undefined,
  });
  const save = (isForced: boolean) =>
    run(async () => {
      const { sha256 } = await fetchPluginCode(path);
      setIsConflict(sha256 !== draft.base && !isForced);
      if (sha256 !== draft.base && !isForced) return;
      await savePluginCode(path, draft.text);
      await client.refetchQueries({ queryKey });
      draft.revert();
      toast(`${path} saved`);
    });
  const canSave = draft.isChanged && !isBusy && !isFetched;
  const message = dry.result?.errors[0];
  const position = message === undefined ? undefined : errorPosition(draft.text, message);
  return (
    <div className="code-split">
      <section className="stack" aria-labelledby={titleId}>
        <div className="row wrap">
          <h2 id={titleId}>
            <code>{path}</code>
          </h2>
          {draft.isChanged && (
            <>
              <span className="chip warn">● unsaved</span>
              <span className="hint soft">The trigger runs the saved code.</span>
            </>
          )}
          <span className="row end">
            {draft.isChanged && (
              <button type="button" className="button" onClick={draft.revert}>
                Revert
              </button>
            )}
            <button
              type="button"
              className="button primary"
              title="Ctrl+S"
              disabled={!canSave}
              onClick={() => void save(false)}
            >
              Save
            </button>
          </span>
        </div>
        <QueryProblem of={code} />
        {isFetched && (
          <p className="note">
            This plugin is loaded from the plugin repository and cannot be changed here.
          </p>
        )}
        {isConflict && (
          <div className="note warn row wrap" role="alert">
            <span>{path} was changed on the server after you opened it.</span>
            <button type="button" className="button small" onClick={() => void save(true)}>
              Overwrite
            </button>
          </div>
        )}
        {error !== undefined && <ProblemNote error={error} />}
        {code.data && (
          <div className="code-box">
            <CodeEditor
              label="Plugin code"
              text={draft.text}
              load={loadPython}
              problem={position === undefined ? undefined : { position, message: message ?? '' }}
              onChange={draft.change}
              onRun={() => void dry.start()}
              onSave={() => canSave && void save(false)}
            />
          </div>
        )}
      </section>
      <DryRunPane dry={dry} isStoredCode={draft.isChanged && isFolder} />
    </div>
  );
}
