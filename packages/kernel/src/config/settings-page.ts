import { settingTypeText } from './parse-value.js';
import { describeSettings, type SettingDescription, type SettingsSection } from './section.js';

/** `docs/SETTINGS.md`: every setting with its aliases, generated from the declarations. */
export function settingsPage(sections: readonly SettingsSection[]): string {
  const settings = describeSettings(sections);
  const parts = sections.map(({ name }) => {
    const rows = settings.filter(({ section }) => section === name).map(row);
    return [`## ${name}`, '', HEAD, RULE, ...rows, ''].join('\n');
  });
  return `${INTRODUCTION}\n${parts.join('\n')}`;
}

const INTRODUCTION = `# Settings

Made from the declarations in each package's \`config.ts\` by \`node scripts/settings.mjs\`; do not edit.

A setting has one name in three forms: \`section.key\` in the configuration file (JSON), \`PLINTH_SECTION_KEY\` in
the environment, \`--section-key\` as a flag. A flag goes before a variable, a variable before the file, the file
before the default. Durations are written \`500ms\`, \`1s\`, \`10m\`, \`1h30m\`, \`7d\`; sizes \`10mb\` (powers of 1024) or \`20%\` of the machine's memory;
lists are comma-separated. What is set to nothing counts as not set. A bad configuration stops the start, with every
problem listed.
`;

const HEAD = '| Setting | Type | Default | Meaning | Also known as |';
const RULE = '|---|---|---|---|---|';

function row(setting: SettingDescription): string {
  const known = [...setting.flags.slice(1).map((flag) => `--${flag}`), ...setting.env.slice(1)];
  const cells = [
    `\`${setting.path}\``,
    settingTypeText(setting),
    setting.default === undefined ? '' : `\`${defaultText(setting.default)}\``,
    setting.description,
    known.map((name) => `\`${name}\``).join(' '),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** A default value in readable form. */
export const defaultText = (value: unknown): string =>
  Array.isArray(value)
    ? value.join(',') || '(empty)'
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
