const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const INTRODUCTION = `# HTTP API

Made from the descriptions in \`api/\` by \`npm run openapi\`; do not edit.

Everything is on one port. The descriptions are OpenAPI 3.1, with what each operation takes and answers, for generators of clients and for
tools that show them; a running server lists what it serves at \`GET /ops/v1/routes\`.
`;

/** `docs/HTTP-API.md`: every operation of every service. @param described OpenAPI by the name of its file */
export function httpApiPage(described) {
  const sections = Object.entries(described).map(([name, { info, paths }]) => {
    const rows = Object.entries(paths).flatMap(([path, about]) =>
      METHODS.filter((method) => about[method] !== undefined).map(
        (method) =>
          `| \`${method.toUpperCase()}\` | \`${path}\` | ${cell(about[method].summary ?? '')} |`,
      ),
    );
    return [
      `## ${info.title}`,
      '',
      `${cell(info.description)} In full: [api/${name}.json](api/${name}.json).`,
      '',
      '| | Path | Does |',
      '|---|---|---|',
      ...rows,
      '',
    ].join('\n');
  });
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('\n', ' ');
