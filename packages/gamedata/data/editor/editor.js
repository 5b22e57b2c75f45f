// Editor page. It uses the same routes as other clients. The token is only in this variable, never stored.
let token = '';
let chosen; // { id, etag } of the record in the text field; id is undefined for a new record
let records = [];

const MAX_SHOWN = 200;
const find = (id) => document.getElementById(id);
const main = document.querySelector('main');

function showMessage(text, isBad = false) {
  find('message').textContent = text;
  find('message').className = isBad ? 'bad' : '';
}

function showFaults(faults) {
  find('faults').replaceChildren(
    ...faults.map(({ type, id, path, message }) => {
      const item = document.createElement('li');
      item.textContent = [type, id, path, message].filter(Boolean).join(' ');
      return item;
    }),
  );
}

/** Resolves to body and ETag. Throws for an error response, after showing its details. */
async function request(method, path, body, headers = {}) {
  const answer = await fetch(`/api/editor/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const json = await answer.json();
  showFaults(json.details ?? []);
  if (!answer.ok) throw new Error(`${json.error} (${answer.status})`);
  return { json, etag: answer.headers.get('etag') };
}

/** Runs one action at a time and shows its result. */
function act(run) {
  document.body.inert = true;
  run()
    .then(
      (text) => showMessage(text ?? ''),
      (error) => showMessage(error.message, true),
    )
    .finally(() => {
      document.body.inert = false;
    });
}

const nameOf = (record) => record.name ?? record.title ?? `level ${record.level}`;
const typeOf = () => find('type').value;

async function showTypes() {
  const { json } = await request('GET', 'types');
  const before = typeOf();
  find('type').replaceChildren(
    ...json.types.map(({ key, draft, changed }) => {
      const label = changed > 0 ? `${key} (${draft}, ${changed} changed)` : `${key} (${draft})`;
      return new Option(label, key, false, key === before);
    }),
  );
}

async function loadRecords() {
  const found = [];
  for (let path = `${typeOf()}?limit=1000&offset=0`; path !== null; ) {
    const { json } = await request('GET', path);
    found.push(...json.data);
    path = json.next?.replace('/api/editor/', '') ?? null;
  }
  records = found;
  showRecords();
}

function showRecords() {
  const wanted = find('find').value.toLowerCase();
  const fitting = records.filter(({ id, ...rest }) =>
    `${id} ${nameOf(rest)}`.toLowerCase().includes(wanted),
  );
  const entries = fitting.slice(0, MAX_SHOWN).map((record) => {
    const item = document.createElement('li');
    const button = document.createElement('button');
    button.textContent = nameOf(record);
    button.title = record.id;
    button.addEventListener('click', () => act(() => open(record.id)));
    item.append(button);
    return item;
  });
  if (fitting.length > MAX_SHOWN) {
    const item = document.createElement('li');
    item.textContent = `and ${fitting.length - MAX_SHOWN} more`;
    entries.push(item);
  }
  find('records').replaceChildren(...entries);
}

function show(record, id, etag) {
  chosen = { id, etag };
  find('title').textContent = id === undefined ? `New record of ${typeOf()}` : `${typeOf()} ${id}`;
  find('record').value = JSON.stringify(record, null, 2);
  find('record').disabled = false;
  find('store').disabled = false;
  find('remove').disabled = id === undefined;
}

function showNothing() {
  chosen = undefined;
  find('title').textContent = 'No record selected';
  find('record').value = '';
  for (const id of ['record', 'store', 'remove']) find(id).disabled = true;
}

const pathOf = (id) => `${typeOf()}/${encodeURIComponent(id)}`;

async function open(id) {
  const { json, etag } = await request('GET', pathOf(id));
  show(json, id, etag);
}

async function store() {
  const text = find('record').value;
  JSON.parse(text); // throws for invalid JSON
  const { json, etag } =
    chosen.id === undefined
      ? await request('POST', typeOf(), text)
      : await request('PUT', pathOf(chosen.id), text, { 'if-match': chosen.etag });
  show(json.data, json.data.id, etag);
  await Promise.all([showTypes(), loadRecords()]);
  return 'Saved to the draft. Publish to make it visible to readers.';
}

async function remove() {
  const replacedBy = prompt(
    'Delete this record? Id of the record that replaces it (optional):',
    '',
  );
  if (replacedBy === null) return 'Delete canceled';
  const query = replacedBy === '' ? '' : `?replacedBy=${encodeURIComponent(replacedBy)}`;
  await request('DELETE', pathOf(chosen.id) + query, undefined, { 'if-match': chosen.etag });
  showNothing();
  await Promise.all([showTypes(), loadRecords()]);
  return 'Record deleted from the draft';
}

async function changeDraft(path, body) {
  const { json } = await request('POST', path, body);
  showNothing();
  await Promise.all([showTypes(), loadRecords()]);
  return json;
}

const ACTIONS = {
  async validate() {
    const { json } = await request('GET', 'validate');
    showFaults([...json.errors, ...json.warnings]);
    return json.valid ? 'The draft is valid' : `Validation errors: ${json.errors.length}`;
  },
  async publish() {
    const message = prompt('Version message (optional):', '');
    if (message === null) return 'Publish canceled';
    const { json } = await request('POST', 'save', { message });
    await showTypes();
    return json.changed === 0
      ? 'No unpublished changes'
      : `Version ${json.version} published (${json.changed} records changed)`;
  },
  async discard() {
    if (!confirm('Discard all unpublished changes?')) return 'Discard canceled';
    return `Changes discarded: ${(await changeDraft('discard')).discarded}`;
  },
  async undo() {
    const { entry } = await changeDraft('undo');
    return `Change ${entry.seq} of ${entry.type} ${entry.id} undone`;
  },
  async redo() {
    const { entry } = await changeDraft('redo');
    return `Change ${entry.seq} of ${entry.type} ${entry.id} redone`;
  },
  async history() {
    const { json } = await request('GET', 'history?limit=50');
    showFaults(
      json.entries.map(({ at, actor, op, type, id, version }) => ({
        type: `${at} ${actor}: ${op}`,
        id: [type, id].filter(Boolean).join(' '),
        message: version === undefined ? '' : `version ${version}`,
      })),
    );
    return `Showing the last ${json.entries.length} of ${json.total} changes`;
  },
  async leave() {
    location.reload();
  },
};

find('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  act(async () => {
    token = find('token').value;
    find('token').value = '';
    // The list of types is public, so this request checks the token.
    await request('GET', 'items?limit=0');
    await showTypes();
    await loadRecords();
    find('sign-in').hidden = true;
    find('actions').hidden = false;
    main.hidden = false;
  });
});
find('actions').addEventListener('click', ({ target }) => {
  const run = ACTIONS[target.dataset.act];
  if (run !== undefined) act(run);
});
find('type').addEventListener('change', () =>
  act(async () => {
    showNothing();
    await loadRecords();
  }),
);
find('find').addEventListener('input', showRecords);
find('make').addEventListener('click', () =>
  show(typeOf() === 'levels' ? { id: '', level: 0 } : { id: '', name: '' }),
);
find('store').addEventListener('click', () => act(store));
find('remove').addEventListener('click', () => act(remove));
