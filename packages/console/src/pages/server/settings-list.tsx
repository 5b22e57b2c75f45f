import { fetchSettings, type Setting } from '@plinth/console-core/api/server.js';
import { countText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { CopyButton } from '../../components/controls/copy-button.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { SearchBox, SearchCheckbox } from '../../components/search/search-fields.js';

/** Lists the effective settings. They are read-only here, because they are set at startup. */
export function SettingsList({ find, isAll }: { readonly find: string; readonly isAll: boolean }) {
  const settings = useQuery({ queryKey: ['server', 'settings'], queryFn: fetchSettings });
  const searchText = find.toLowerCase();
  const shown = (settings.data ?? []).filter(
    ({ name, description, is_default }) =>
      (isAll || !is_default) && `${name} ${description}`.toLowerCase().includes(searchText),
  );
  return (
    <section className="stack" aria-label="Settings">
      <div className="row wrap">
        <SearchBox label="Find setting" placeholder="Find setting" />
        <SearchCheckbox label="Only changed settings" name="all" on="" off="1" />
        {settings.data && (
          <span className="hint soft" role="status">
            {countText(shown.length)} of {countText(settings.data.length)} settings
          </span>
        )}
      </div>
      <QueryProblem of={settings} />
      <DataTable
        label="Settings"
        rows={settings.data && shown}
        empty={isAll ? 'No settings match.' : 'No changed settings match.'}
        keyOf={(setting) => setting.name}
        columns={[
          { title: 'Setting', cell: (setting) => <code>{setting.name}</code> },
          {
            title: 'Value',
            cell: (setting) => (
              <>
                <code>{shownValue(setting)}</code>
                {!setting.is_default && <span className="chip">set</span>}
              </>
            ),
          },
          {
            title: 'Description',
            className: 'wide soft',
            cell: (setting) => setting.description,
          },
          {
            ...ACTIONS,
            cell: (setting) => (
              <CopyButton text={setting.flag} label={`Copy flag ${setting.flag}`} />
            ),
          },
        ]}
      />
    </section>
  );
}

function shownValue({ value, is_secret, is_default }: Setting): string {
  if (is_secret) return is_default ? '–' : '••••••';
  if (value === undefined) return '–';
  if (Array.isArray(value)) return value.join(', ') || '(none)';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
