/**
 * A form for the token, without scripts. It has no `action`: it posts to its own URL and keeps the
 * fragment of the link, which redirects preserve. With `no-referrer`, browsers would send no Origin,
 * which shows whether the page was opened by https.
 */
export const signInPage = (isWrong: boolean): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="same-origin">
<title>trajgpt: token</title>
<h1>trajgpt</h1>
<p>${isWrong ? "That is not the token. " : ""}Enter the token that was printed when this service was started.</p>
<form method="post">
<label>Token <input type="password" name="token" autocomplete="off" required></label>
<button>Open</button>
</form>
</html>
`;
