import { defineConfig } from 'vite';

/** The server that `npm run dev` proxies to. */
const SERVER = process.env['PLINTH_URL'] ?? 'http://127.0.0.1:8181';
const PACKAGES = `${import.meta.dirname}/..`;
const LARGE =
  /node_modules\/(?:@codemirror\/(?!lang-python)|@lezer\/(?!python)|(?:style-mod|w3c-keyname|crelt|@marijn)\/)/;
const PYTHON = /node_modules\/@(?:codemirror|lezer)\//;

// biome-ignore lint/style/noDefaultExport: Vite reads it.
export default defineConfig({
  base: '/console/',
  resolve: {
    // Imports the TypeScript sources, because the compiler runs in parallel.
    alias: [
      {
        find: /^@plinth\/console-core\/(.*)\.js$/,
        replacement: `${PACKAGES}/console-core/src/$1.ts`,
      },
      { find: '@plinth/kernel/cron', replacement: `${PACKAGES}/kernel/src/clock/cron.ts` },
      {
        find: '@plinth/kernel/event-stream',
        replacement: `${PACKAGES}/kernel/src/live/event-stream.ts`,
      },
      { find: '@plinth/line-protocol', replacement: `${PACKAGES}/line-protocol/src/index.ts` },
    ],
  },
  server: { port: 5173, proxy: { '/api': SERVER, '/ops': SERVER } },
  worker: { format: 'es' },
  build: {
    outDir: 'dist/site',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.json' },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      checks: { pluginTimings: false },
      onLog(level, log, report) {
        // Directives of libraries for server rendering have no effect here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
      output: {
        codeSplitting: {
          groups: [
            // A group takes the dependencies of its modules, so the larger group comes first.
            { name: 'editor', test: LARGE, priority: 1 },
            { name: 'editor-python', test: PYTHON },
            { name: 'chart', test: /node_modules\/uplot\// },
            {
              name: 'core',
              test: /node_modules\/(?:react|react-dom|scheduler|@tanstack\/(?!react-virtual|virtual-core)[^/]+|use-sync-external-store)\//,
            },
          ],
        },
      },
    },
  },
});
