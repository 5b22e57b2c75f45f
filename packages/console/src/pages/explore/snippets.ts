import { type QueryText, queryCurl, queryPath } from '@plinth/console-core/api/tsdb.js';
import { copyText } from '../../components/controls/copy-button.js';
import type { MenuEntry } from '../../components/controls/menu-button.js';
import { toast } from '../../components/controls/toasts.js';

/** Copies the query as shell or program code. The token is read from the environment. */
export const snippetEntries = (sent: () => QueryText | undefined): readonly MenuEntry[] => {
  const entry = (id: string, label: string, text: (query: QueryText) => string): MenuEntry => ({
    id,
    label: `Copy as ${label}`,
    act: () => {
      const query = sent();
      if (query !== undefined) void copyText(text(query)).then(() => toast('Copied'));
    },
  });
  return [
    entry('curl', 'curl', (query) => queryCurl(query, 'json_rows')),
    entry('javascript', 'JavaScript', javascript),
    entry('python', 'Python', python),
  ];
};

const javascript = ({ db, lang, text, params }: QueryText): string =>
  `const response = await fetch(${JSON.stringify(location.origin + queryPath(lang))}, {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.PLINTH_TOKEN}\`,
    'content-type': 'application/json',
  },
  body: JSON.stringify({ db: ${JSON.stringify(db)}, format: 'json_rows', q: ${JSON.stringify(text)}${params === undefined ? '' : `, params: ${params}`} }),
});
console.log(await response.json());
`;

const python = ({ db, lang, text, params }: QueryText): string =>
  `import ${params === undefined ? '' : 'json, '}os
from influxdb_client_3 import InfluxDBClient3

client = InfluxDBClient3(host=${JSON.stringify(location.origin)}, database=${JSON.stringify(db)},
                         token=os.environ["PLINTH_TOKEN"])
print(client.query(${JSON.stringify(text)}, language=${JSON.stringify(lang)}${params === undefined ? '' : `, query_parameters=json.loads(${JSON.stringify(params)})`}).to_pandas())
`;
