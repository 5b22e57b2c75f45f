import { defineConfig } from 'vitepress';
import { withCheckboxes, withoutComments, withoutDeadEnds } from './markdown.mjs';
import { sidebar } from './sidebar.mjs';

/** The pages lie above the packages of the site, where Node does not look for these while it renders. */
const vueOfTheSite = {
  name: 'vue-of-the-site',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) =>
    ssr && /^vue(?:\/server-renderer)?$/.test(id) ? { id, external: true } : undefined,
};

// biome-ignore lint/style/noDefaultExport: VitePress asks for it
export default defineConfig({
  // One page at a time: the search index numbers pages in the order in which they are read.
  buildConcurrency: 1,
  title: 'Plinth',
  description:
    'One self-hosted server that speaks the InfluxDB, Stripe Accounts v2 and GitHub webhook protocols.',
  lang: 'en',
  base: '/docs/',
  srcDir: '..',
  srcExclude: ['site/**'],
  outDir: './dist',
  cacheDir: './node_modules/.cache/vitepress',
  rewrites: (page) => page.replace(/README\.md$/, 'index.md'),
  // One file with the names of all others in place of a list in each page.
  metaChunk: true,
  markdown: {
    // `<file>` in a text is what it says.
    html: false,
    languageAlias: { haproxy: 'ini', influxql: 'sql' },
    config: (markdown) => markdown.use(withoutComments).use(withoutDeadEnds).use(withCheckboxes),
  },
  vite: { plugins: [vueOfTheSite] },
  themeConfig: {
    nav: [
      { text: 'First steps', link: '/TUTORIAL' },
      { text: 'This server', link: '/rest/', target: '_self' },
    ],
    sidebar,
    search: { provider: 'local' },
    outline: { level: [2, 3] },
  },
});
