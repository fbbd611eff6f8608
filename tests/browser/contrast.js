// every visible text whose contrast with what lies behind it is below WCAG AA, as [text, colour, background, ratio]
(() => {
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = parts(colour).slice(0, 3).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      const [, , , alpha = 1] = parts(colour);
      if (alpha === 1) return colour;
      if (alpha > 0) throw new Error(`half-transparent background ${colour}`);
    }
    return "rgb(255, 255, 255)";
  };
  const poor = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const background = behind(element);
    const [light, dark] = [luminance(style.color), luminance(background)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < (large ? 3 : 4.5)) poor.push([texts.currentNode.data.trim().slice(0, 40), style.color, background, ratio.toFixed(2)]);
  }
  return poor;
})()
