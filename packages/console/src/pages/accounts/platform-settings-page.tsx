import { fetchPlatform, savePlatform } from '@plinth/console-core/api/accounts.js';
import { toMergePatch } from '@plinth/console-core/lib/form/request-changes.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { ObjectEditor } from './object-editor.js';
import { usePlatform } from './use-platform.js';
import { useRequestFields } from './use-request-fields.js';

/** The settings of a platform. */
export function PlatformSettingsPage() {
  const { platforms, platform } = usePlatform();
  const { schemas, fields } = useRequestFields('PlatformSettings');
  const stored = useQuery({
    queryKey: ['accounts', 'platform', platform],
    queryFn: () => fetchPlatform(platform),
    enabled: platform !== '',
  });
  const { changed } = useChanges('accounts');
  const { data } = stored;
  const versioned = useMemo(() => data && { object: data, etag: '' }, [data]);
  return (
    <div className="page">
      <header className="page-head">
        <nav aria-label="Breadcrumb">
          <Link to="/accounts" search={{ platform }}>
            Accounts
          </Link>
        </nav>
        <h1 tabIndex={-1}>Platform settings</h1>
        <code>{platform}</code>
      </header>
      <QueryProblem of={platforms} />
      <QueryProblem of={schemas} />
      <QueryProblem of={stored} />
      {fields && versioned && (
        <ObjectEditor
          key={platform}
          what="platform"
          draftKey={`platform ${platform}`}
          fields={fields}
          stored={versioned}
          action="Save"
          save={async ({ body }) => {
            await savePlatform(platform, toMergePatch(versioned.object, body));
            await changed('Platform settings saved');
          }}
        />
      )}
    </div>
  );
}
