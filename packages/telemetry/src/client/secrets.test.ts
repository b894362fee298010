import { expect, test } from 'vitest';
import { tailOf } from '../feedback/text-lines.ts';
import { createRedactor } from './redact.ts';

const redactor = createRedactor();
const word = 'T3x55O9kLsHZ8bA1LMwrPvU0PyrNzQxPu0htibUQk';
const hex = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const slashed = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYxxxxxxxxxxxx';

/** What is between `<<` and `>>` is secret. */
const secrets: Readonly<Record<string, readonly string[]>> = {
  'keys that tell whose they are': [
    ...[
      'ghs_',
      'gho_',
      'glrt-',
      'gldt-',
      'glcbt-64_',
      'xoxb-123456789012-',
      'xapp-1-A012345678-',
      'rk_prod_',
    ],
    ...[
      'whsec_',
      'ABSK',
      'ya29.a0',
      '1//0g',
      'GOCSPX-',
      'sk-ant-api03-',
      'sk-proj-',
      'hf_',
      'npm_',
      'gsk_',
      'xai-',
    ],
    ...[
      'pypi-AgEIcHlwaS5vcmc',
      'SG.',
      'dop_v1_',
      'shpat_',
      'hvs.',
      'rubygems_',
      'lin_api_',
      'ntn_1234',
      'dp.pt.',
    ],
    ...[
      'figd_',
      'PMAK-',
      'glsa_',
      'sntryu_',
      'AGE-SECRET-KEY-1',
      'dckr_pat_',
      'fm2_',
      'pplx-',
      'r8_',
      'ATATT3xF',
    ],
    ...['https://hooks.slack.com/services/T0/B0/', 'https://discord.com/api/webhooks/123456789012345678/'],
    ...['https://api.telegram.org/bot123456789:AA', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.'],
  ]
    .map((start) => `it says ${start}<<${word}>> here`)
    .concat(`it is SK<<${hex.slice(0, 32)}>> here`, `it is dapi<<${hex.slice(0, 32)}>> here`),
  'environments and configurations': [
    'PASS=<<secret>>',
    'PASS=<<hunter2>> ./run.sh',
    "DB_PASS='<<hunter two>>'",
    '  pass: <<hunter2>>',
    "auth: { user: 'me', pass: '<<hunter2>>' }",
    'Pwd: <<hunter2>>',
    'PASS: token=<<hunter2>>',
    'passcode: <<482913>>',
    '"otp": "<<482913>>"',
    'requirepass <<hunter2>>',
    `GH_PAT=<<${word}>>`,
    `aws_secret_access_key = <<${slashed}>>`,
    `apiKey := "<<${word}>>"`,
    `os.environ["API_KEY"] = "<<${word}>>"`,
    'const apiKey = `<<a b>>`;',
    'password = """<<hunter two>>"""',
    String.raw`password="<<hunter \" two>>" next`,
    'password -> <<hunter2>>',
    '<add key="Password" value="<<hunter2>>" />',
    '"env": [{"name": "DB_TOKEN", "value": "<<hunter2>>"}]',
    '- name: DB_PASSWORD\n  value: <<hunter2>>\n- name: X',
    '- name: DB_PASSWORD\n  value: |\n    <<hunter2>>\n    <<hunter3>>\n- name: X',
    '//registry.npmjs.org/:_password=<<aHVudGVyMg==>>',
  ],
  'files of passwords': [
    'db.example.com:5432:app:jane:<<hunter2>>',
    String.raw`*:*:*:postgres:<<pa\:ss word>>`,
    'localhost:5432:*:app:<<hunter2>>',
    'machine api.example login u password <<hunter2>>',
  ],
  Kubernetes: [
    'kind: Secret\nstringData:\n  config: <<hunter2>>\n',
    'kind: Secret\ndata:\n  config: <<aHVudGVyMg==>>\n---\nkind: ConfigMap',
    'apiVersion: v1\ndata:\n  config: <<aHVudGVyMg==>>\nkind: Secret',
    'items:\n- apiVersion: v1\n  data:\n    config: <<QUJDREVGR0g=>>\n  kind: Secret',
    'client-key-data: <<LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=>>',
    'x.509: <<LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=>>',
  ],
  connections: [
    'host=db user=app password=<<hunter2>> dbname=app',
    'mysql+pymysql://root:<<hunter2>>@localhost',
    'mongodb+srv://app:<<hunter2>>@cluster0.example.net/',
    'redis://:<<hunter2>>@cache:6379/0',
    'amqp://guest:<<hunter2>>@mq:5672/%2f',
    'Server=db;Uid=sa;Pwd=<<hunter2>>;',
    'jdbc:oracle:thin:scott/<<tiger99>>@//db:1521/orcl',
    'jdbc:sqlserver://db;user=sa;password=<<hunter2>>',
    `DefaultEndpointsProtocol=https;AccountKey=<<${slashed}==>>;EndpointSuffix=x`,
  ],
  commands: [
    'mysql -uroot -p<<hunter2>> app',
    "mysql -u root -p'<<hunter two>>' app",
    'mysqldump --user=root --password=<<hunter2>> app',
    '$ mysql --password <<hunter2>>',
    'argv: ["mysql","-uroot","-p<<hunter2>>"]',
    "['sshpass', '-p', '<<hunter2>>', 'ssh']",
    'sshpass -p <<hunter2>> ssh me@x',
    'docker login -u me -p <<hunter2>> r.io',
    'redis-cli -h x -a <<hunter2>> ping',
    'ldapsearch -x -D cn=a -w <<hunter2>>',
    'sqlcmd -S db -U sa -P <<hunter2>>',
    'openssl rsa -passin pass:<<hunter2>> -in k',
    'curl -ume:<<hunter2>> https://x',
    "curl --user 'me:<<hunter two>>' https://x",
    'argv: ["curl", "-u", "me:<<hunter2>>"]',
    'curl -u 1000:<<2000>> https://x',
    "curl -b 'sid=<<abc9>>' https://x",
    `setenv API_KEY <<${word}>>`,
    `set -x API_KEY <<${word}>>`,
    `aws configure set aws_secret_access_key <<${slashed}>>`,
  ],
  headers: [
    '> authorization: Basic <<dXNlcjpwYXNz>>',
    'Proxy-Authorization: Digest username="u", response="<<0123abc>>"',
    "headers: [ 'authorization', 'Basic <<dXNlcjpwYXNz>>' ]",
    "rawHeaders: [ 'Cookie', 'sid=<<abc9>>' ]",
    "headers=[(b'authorization', b'Basic <<dXNlcjpwYXNz>>')]",
    `[["x-api-key","<<${word}>>"]]`,
    String.raw`{\"password\":\"<<two words>>\",\"user\":\"x\"}`,
  ],
};

const bundled = async (text: string) => {
  async function* lines() {
    yield* text.split('\n');
  }
  return (await tailOf(lines(), redactor, 1_000_000)).text;
};

test.each(Object.entries(secrets))('no secret of %s gets through', async (_, texts) => {
  const leaks: string[] = [];
  for (const marked of texts) {
    const values = [...marked.matchAll(/<<(.*?)>>/g)].map(([, value = '']) => value);
    const text = marked.replaceAll(/<<|>>/g, '');
    for (const shown of [redactor.text(text), await bundled(text)])
      if (values.some((value) => shown.split('[redacted]').join('').includes(value))) leaks.push(shown);
  }
  expect(leaks).toEqual([]);
});

test('what explains a fault stays, though it looks like a secret', async () => {
  const texts = [
    ...[
      'docker run -u 1000:1000 node ls',
      'docker run --user 1000:1000 -p 8080:80 x',
      'docker run -p8080:80 x',
    ],
    ...[
      'auth: word',
      'auth: failed to reach the server',
      'auth: retrying in 3 s',
      'auth=none',
      'auth method: none',
    ],
    ...[
      'PASS: TestAuthor',
      'PASS: gcc/foo-1.c',
      'pass: 12, fail: 0',
      '{"pass":12,"fail":0}',
      'pass_rate: 0.93',
    ],
    ...[
      'ssh -p2222 me@host',
      'mkdir -p a/b',
      'git log -p -3',
      'psql -p 5432 -U me',
      'cp -pr a b',
      'mysql -P 3306',
    ],
    ...[
      'src/a.ts:12:5: error: x',
      'src/a.ts:12:5:error:x',
      'app.log:120:a:b',
      'aa:bb:cc:dd:ee:ff',
      'a:b:c:d:e',
    ],
    ...['root:x:0:0:root:/root:/bin/bash', 'max_tokens: 4096', 'input_tokens=1234 output_tokens=56'],
    '{"usage":{"input_tokens":1234,"output_tokens":5,"cache_read_input_tokens":4096}}',
    ...[
      'hasToken: true',
      'token: null',
      'token=undefined',
      'Unexpected token: }',
      'token_count: 12345',
      'cookies: 3',
    ],
    ...[
      'access_token_ttl=3600',
      'token_type: Bearer',
      'password_policy: strong',
      'passwordless: true',
      'token: ***',
    ],
    ...[
      'tokenizer: fast',
      'secretary: Jane',
      'bypass: on',
      'author: Jane',
      'primary_key: id',
      'monkey: banana',
    ],
    ...[
      'req_011CSHoEeqs5C35K2UUqR7Fy',
      'toolu_01A09q90qw90lq917835lq9',
      `sha256:${hex}`,
      `commit ${hex.slice(24)}`,
    ],
    ...[
      'npm_config_user_agent_of_this=x',
      'gha_actions_runner_name',
      'glob-parent-of-directories',
      'key-value-store-of-things',
      'GET /oauth/token 200',
    ],
    ...[
      'kind: ConfigMap\ndata:\n  status: completed',
      'https://x/@babel/core@7.0.0/x.js',
      'tests passed: 12/12',
    ],
  ];
  for (const text of texts) {
    expect(redactor.text(text)).toBe(text);
    expect(await bundled(text)).toBe(`${text}\n`);
  }
});
