/** Readers of published tables. */
export const READERS = {
  name: 'open-tables',
  packages: ['pyiceberg[pyarrow]==0.12.*', 'chdb-core==26.9.*', 'pandas'],
  probe: 'import pyiceberg, pyarrow, chdb, pandas',
};
