const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const INTRODUCTION = `# HTTP API

This reference is for client developers. Generated from the descriptions in \`api/\` by \`npm run openapi\`; do not edit.

All services share one port. The OpenAPI 3.1 descriptions contain the input and output of each operation, for client generators and API
viewers. A running server lists its routes at \`GET /ops/v1/routes\`.
`;

/** Returns `docs/HTTP-API.md`, a list of all operations. @param described OpenAPI documents by file name */
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
      `${cell(info.description)} Full description: [api/${name}.json](api/${name}.json).`,
      '',
      '| Method | Path | Operation |',
      '|---|---|---|',
      ...rows,
      '',
    ].join('\n');
  });
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('\n', ' ');
