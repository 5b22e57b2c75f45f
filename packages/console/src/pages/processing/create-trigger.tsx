import { unlessMissing } from '@plinth/console-core/api/client.js';
import { Problem } from '@plinth/console-core/api/problem.js';
import {
  createTrigger,
  fetchPluginCode,
  savePluginCode,
} from '@plinth/console-core/api/processing.js';
import { specificationOf } from '@plinth/console-core/lib/plugins/next-runs.js';
import { parseArguments, pluginTemplate } from '@plinth/console-core/lib/plugins/specification.js';
import { useState } from 'react';
import { DatabaseField } from '../../components/controls/database-choice.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { TextField } from '../../components/controls/text-field.js';
import { type Schedule, ScheduleFields } from './schedule-fields.js';

const BEHAVIORS = ['log', 'retry', 'disable'] as const;
const ARGUMENTS = 'Invalid arguments; use pairs such as host=a, limit=10.';

/** The fields of the request at which the form shows errors. */
const FIELDS = ['trigger_name', 'plugin_filename', 'trigger_specification'] as const;
type Field = (typeof FIELDS)[number];

const fieldOf = (error: unknown): Field | undefined =>
  error instanceof Problem ? FIELDS.find((field) => field === error.field) : undefined;

/** Creates a trigger for existing code, or for a new file that starts with a template. */
export function CreateTrigger(props: {
  /** The selected database. */
  readonly preset: string;
  readonly names: readonly string[];
  readonly onClose: () => void;
  readonly onCreated: (
    trigger: { readonly db: string; readonly name: string },
    isNewFile: boolean,
  ) => void;
}) {
  const { preset, names, onClose, onCreated } = props;
  const [db, setDb] = useState(preset);
  const [isNewFile, setIsNewFile] = useState(false);
  const [name, setName] = useState('');
  const [plugin, setPlugin] = useState('');
  const [schedule, setSchedule] = useState<Schedule>({ kind: 'every', value: '' });
  const [args, setArgs] = useState('');
  const [errorBehavior, setErrorBehavior] = useState<string>('log');
  const parsed = parseArguments(args);
  const specification = specificationOf(schedule.kind, schedule.value);
  const path =
    plugin.trim() === '' && isNewFile && name !== '' ? `${name.trim()}.py` : plugin.trim();
  const create = async () => {
    if (isNewFile) await createFile(path, pluginTemplate(specification));
    await createTrigger({
      ...{ db, name: name.trim(), plugin: path, specification },
      ...{ args: parsed ?? {}, errorBehavior, isDisabled: isNewFile },
    });
    onCreated({ db, name: name.trim() }, isNewFile);
  };
  return (
    <FormDialog
      title="Create trigger"
      action="Create"
      doing="Creating …"
      canAct={name !== '' && path !== '' && specification !== '' && parsed !== undefined}
      act={create}
      onClose={onClose}
      isAtField={(error) => fieldOf(error) !== undefined}
    >
      {(error) => {
        const mistakeOf = (field: Field): string | undefined =>
          error instanceof Error && fieldOf(error) === field ? error.message : undefined;
        return (
          <>
            <TextField
              label="Name"
              isCode
              value={name}
              onChange={setName}
              mistake={mistakeOf('trigger_name')}
            />
            <DatabaseField db={db} names={names} onChange={setDb} />
            <CodeChoice isNew={isNewFile} onChange={setIsNewFile} />
            <TextField
              label="Plugin"
              isCode
              value={plugin}
              onChange={setPlugin}
              mistake={mistakeOf('plugin_filename')}
              placeholder={isNewFile ? path || 'hourly.py' : 'hourly.py'}
              hint={
                isNewFile
                  ? 'The name of the new file. The trigger is created disabled, so that you can edit and test the code first.'
                  : "A file or folder in the server's plugin folder."
              }
            />
            <ScheduleFields
              schedule={schedule}
              onChange={setSchedule}
              mistake={mistakeOf('trigger_specification')}
            />
            <TextField
              label="Arguments"
              isCode
              value={args}
              onChange={setArgs}
              placeholder="host=a, limit=10"
              mistake={parsed === undefined ? ARGUMENTS : undefined}
              hint="Visible to everyone who can list triggers; do not enter secrets."
            />
            <fieldset className="choice">
              <legend className="label">On error</legend>
              <div className="row wrap">
                {BEHAVIORS.map((behavior) => (
                  <label key={behavior} className="row">
                    <input
                      type="radio"
                      checked={errorBehavior === behavior}
                      onChange={() => setErrorBehavior(behavior)}
                    />
                    {behavior}
                  </label>
                ))}
              </div>
            </fieldset>
          </>
        );
      }}
    </FormDialog>
  );
}

function CodeChoice(props: {
  readonly isNew: boolean;
  readonly onChange: (isNew: boolean) => void;
}) {
  const { isNew, onChange } = props;
  return (
    <fieldset className="choice">
      <legend className="label">Code</legend>
      <div className="row wrap">
        <label className="row">
          <input type="radio" checked={!isNew} onChange={() => onChange(false)} />
          existing plugin
        </label>
        <label className="row">
          <input type="radio" checked={isNew} onChange={() => onChange(true)} />
          new file from a template
        </label>
      </div>
    </fieldset>
  );
}

/** Creates a file with the code of a template. Its errors are shown at the field of the plugin. */
async function createFile(path: string, content: string): Promise<void> {
  try {
    await writeFile(path, content);
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 400) throw error;
    const { status, curl, body } = error;
    throw new Problem(error.message, { status, curl, body, field: 'plugin_filename' });
  }
}

/** A file with the same content may exist from a failed attempt. */
async function writeFile(path: string, content: string): Promise<void> {
  const existing = await unlessMissing(fetchPluginCode(path));
  if (existing === undefined) await savePluginCode(path, content);
  else if (existing.content !== content) {
    const at = { status: 409, curl: '', field: 'plugin_filename' };
    throw new Problem(`plugin file '${path}' already exists; enter another name`, at);
  }
}
