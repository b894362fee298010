/** How keys begin that tell whose they are, as parts of regular expressions. What follows is random, and may have a second part. */
const starts = [
  // Of the service itself: session keys, codes, tokens of devices, refresh tokens.
  'sp[a-z]_',
  'gh[oprsu]_',
  'github_pat_',
  'gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|soat)-',
  'xapp-',
  'whsec_',
  '[rs]k_(?:live|prod|test)_',
  'ABSK',
  'ya29\\.',
  'GOCSPX-',
  'pypi-AgE',
  'SG\\.',
  'do[opr]_v1_',
  'shp[a-z]{2}_',
  'hv[bs]\\.',
  'rubygems_',
  'lin_api_',
  'ntn_',
  'dp\\.[a-z]{2,5}\\.',
  'figd_',
  'PMAK-',
  'gl(?:c|sa)_',
  'sntry[su]_',
  'AGE-SECRET-KEY-',
  'dckr_pat_',
  'fm2_',
  'ATATT3',
  'sha256~',
  // `-----BEGIN `, and a JWT, once more in Base64, as Kubernetes has its secrets.
  'LS0tLS1CRUdJTi',
  'ZXlK',
];

/** Those with which words may begin, too: `npm_config_user_agent`. */
const startsOfWords = ['gsk_', 'hf_', 'key-', 'npm_', 'pplx-', 'r8_', 'xai-'];

/** Those of a form of their own. Each begins with a letter or digit that is given: words pass quickly where none does. */
const forms = [
  'sk-[\\w-]+',
  'xox[a-z]-[\\w-]{8,}',
  'eyJ[\\w-]{8,}(?:\\.[\\w-]*){0,4}',
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}',
  'AIza[\\w-]{35}',
  'SK[0-9a-f]{32}',
  'dapi[0-9a-f]{32}',
  '1//0[\\w-]{20,}',
  'bot\\d{8,10}:AA[\\w-]{32,}',
  'atlasv1\\.[\\w-]{40,}',
  // Who has the address of a webhook may use it.
  '(?:hooks\\.slack\\.com|discord(?:app)?\\.com/api/webhooks)/[\\w/-]+',
];

/** The keys in a text. */
export const secretKeys = new RegExp(
  `\\b(?:(?:${starts.join('|')})[\\w-]{16,}(?:[.+/][\\w-]+)*|` +
    `(?:${startsOfWords.join('|')})[A-Za-z\\d]{20,}|${forms.join('|')})`,
  'g',
);
