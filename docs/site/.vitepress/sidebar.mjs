import fs from 'node:fs';

const DOCS = new URL('../../', import.meta.url);

/** The page's own title. */
const page = (name) => {
  const [, title] = /^# (.*)$/m.exec(fs.readFileSync(new URL(`${name}.md`, DOCS), 'utf8'));
  return { text: title, link: `/${name.replace(/README$/, '')}` };
};
const group = (text, ...names) => ({ text, collapsed: false, items: names.map(page) });
const folder = (text, name) => {
  const files = fs.readdirSync(new URL(name, DOCS)).filter((file) => file.endsWith('.md'));
  const first = files.filter((file) => file === 'README.md');
  const names = [...first, ...files.filter((file) => file !== 'README.md').sort()];
  const items = names.map((file) => page(`${name}/${file.slice(0, -3)}`));
  return { text, collapsed: true, items };
};

/** In the order of docs/README.md. */
export const sidebar = [
  group('Begin', 'TUTORIAL'),
  group(
    'How to',
    ...[
      'TIME-SERIES',
      'CLIENTS',
      'CONSOLE',
      'TOKENS',
      'ACCOUNTS',
      'WEBHOOKS',
      'LIMITS',
      'GAME-DATA',
    ],
  ),
  group(
    'Operate',
    ...['INSTALL', 'CONTAINERS', 'PRODUCTION-CHECKLIST', 'OPERATIONS', 'SIZING', 'CONFIGURATION'],
    ...['TLS-AND-PROXIES', 'BACKUPS', 'UPGRADE', 'SEVERAL-NODES'],
    ...['MONITORING', 'ALERT-RUNBOOK', 'LOGGING', 'LOG-MESSAGES', 'TRACING'],
    ...['TROUBLESHOOTING', 'DATA-RECOVERY', 'RELEASING'],
  ),
  group('Look up', 'SETTINGS', 'COMMANDS', 'HTTP-API', 'METRICS'),
  folder('What it promises', 'spec'),
  folder('Formats', 'formats'),
  group(
    'Understand',
    ...['ARCHITECTURE', 'SECURITY', 'SECURITY-NETWORK', 'SECURITY-CREDENTIALS', 'SECURITY-DATA'],
    ...['KNOWN-LIMITATIONS', 'KNOWN-LIMITATIONS-TSDB'],
  ),
  folder('Decisions', 'adr'),
];
