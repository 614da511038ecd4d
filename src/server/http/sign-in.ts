/**
 * Asks for the token; without a script, as the page is not there yet. The form has no `action`: it
 * goes to its own address with the fragment of the link, which redirects hand on. Of a page without
 * referrer a browser would not name the origin, which tells http from https.
 */
export const signInPage = (isWrong: boolean): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="same-origin">
<title>trajgpt: token</title>
<h1>trajgpt</h1>
<p>${isWrong ? "That is not the token. " : ""}Whoever started this service was shown a token.</p>
<form method="post">
<label>Token <input type="password" name="token" autocomplete="off" required></label>
<button>Open</button>
</form>
</html>
`;
