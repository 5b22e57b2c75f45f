import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isPackageRequirement } from './package-requirement.js';

it('accepts a name with extras, versions and markers', () => {
  for (const text of [
    'pandas',
    ' pandas ',
    'A',
    'zope.interface',
    'ruamel.yaml==0.18.6',
    'scipy==1.9.0',
    'scipy == 1.9.*',
    'x[extra]>=1',
    'requests[security, socks] >= 2.8.1, != 2.9, < 3',
    'requests(>=2)',
    'torch==2.1.0+cpu',
    'name===1!2.0rc1.post3-dev',
    'numpy>=1.2; python_version < "3.13" and (sys_platform == \'linux\' or os_name != "nt")',
    'six;"win" not in sys_platform',
    'six ; extra=="a" or(os_name=="nt")and platform_machine in "arm64 x86_64"',
  ])
    assert.ok(isPackageRequirement(text), text);
});

it('refuses options, paths and addresses that installers would accept', () => {
  for (const text of [
    '',
    ' ',
    '-r file',
    ' -rfile',
    '--index-url=http://127.0.0.1',
    'pandas --index-url=http://127.0.0.1',
    'pandas -r file',
    'file:///etc',
    'FILE:/etc',
    './x',
    '../x',
    '.',
    '..',
    '/etc',
    'a/b',
    'a\\b',
    'C:\\x',
    '~/x',
    'local.whl',
    'local-1.0-py3-none-any.whl',
    'local.tar.gz',
    'local.ZIP',
    'x @ file:///etc',
    'x@https://example.org/x.whl',
    'git+https://example.org/x',
    'https://example.org/x.whl',
    'x[../y]',
    'x>=1;-r file/..',
    'six;import os',
    'six;os_name',
    'six;os_name == nt',
    'six;os_name == "nt" and',
    'six;os_name == "/etc"',
    'x==file:///etc',
    'x #egg=y',
    'x#y',
    'pandas\nnumpy',
    'pandas\u0000',
    '${HOME}',
    'pandäs',
    'x'.repeat(501),
  ])
    assert.ok(!isPackageRequirement(text), JSON.stringify(text));
});

it('rejects almost valid text in linear time', () => {
  for (const text of [
    'a.'.repeat(250),
    `x[${'a,'.repeat(240)}`,
    `x${'==1,'.repeat(120)}/`,
    `x;${'('.repeat(490)}`,
  ])
    assert.ok(!isPackageRequirement(text));
});
