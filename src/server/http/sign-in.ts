/** Asks for the token; without a script, as the page is not there yet. */
export const signInPage = (isWrong: boolean): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>trajgpt: token</title>
<h1>trajgpt</h1>
<p>${isWrong ? "That is not the token. " : ""}Whoever started this service was shown a token.</p>
<form method="post" action="/sign-in">
<label>Token <input type="password" name="token" autocomplete="off" required></label>
<button>Open</button>
</form>
</html>
`;
