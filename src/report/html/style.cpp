// How the page looks, on a light screen, a dark one, and paper.
#include "report/html/parts.hpp"

namespace fairlead::report::html {

const std::string_view style = R"css(
:root{--paper:#fff;--ink:#1c2024;--soft:#5f6871;--line:#dfe3e7;--grid:#eceff2;--empty:#f5f7f8;--wait:#e5484d;
--c0:#4269d0;--c1:#e8a317;--c2:#e8604f;--c3:#58b5a2;--c4:#3ca951;--c5:#e87fab;--c6:#9a5ce0;--c7:#86a8ee;--c8:#9c6b4e;--c9:#8d949c;
--u0:#2f6690;--u1:#3aa6a0;--u2:#e08e2b;--u3:#8b6ba8;--u4:#c3cdd5;color-scheme:light}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){--paper:#14171a;--ink:#e6e9ec;--soft:#98a2ab;--line:#2d3339;--grid:#22272c;--empty:#1b1f23;--wait:#ff6369;
--c0:#6a8cf0;--c1:#f0b73a;--c2:#f47c6a;--c3:#6cc9b6;--c4:#55bd68;--c5:#f296be;--c6:#b07cf0;--c7:#9dbaf5;--c8:#b98768;--c9:#9aa2aa;
--u0:#5b9bc9;--u1:#4fc0b9;--u2:#eea648;--u3:#a98bc6;--u4:#48525b;color-scheme:dark}}
:root[data-theme=dark]{--paper:#14171a;--ink:#e6e9ec;--soft:#98a2ab;--line:#2d3339;--grid:#22272c;--empty:#1b1f23;--wait:#ff6369;
--c0:#6a8cf0;--c1:#f0b73a;--c2:#f47c6a;--c3:#6cc9b6;--c4:#55bd68;--c5:#f296be;--c6:#b07cf0;--c7:#9dbaf5;--c8:#b98768;--c9:#9aa2aa;
--u0:#5b9bc9;--u1:#4fc0b9;--u2:#eea648;--u3:#a98bc6;--u4:#48525b;color-scheme:dark}
*{box-sizing:border-box}
body{margin:0 auto;padding:28px clamp(16px,3vw,44px) 40px;max-width:1760px;background:var(--paper);color:var(--ink);
font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
header{position:relative;padding-right:48px}
h1{font-size:24px;font-weight:600;letter-spacing:-.01em;margin:0}
header p{margin:2px 0 0;color:var(--soft)}
#theme{position:absolute;right:0;top:2px}
.figures{display:flex;flex-wrap:wrap;gap:14px 44px;margin:22px 0 26px}
.figures dt{color:var(--soft);font-size:12.5px}
.figures dd{margin:0;color:var(--soft);font-size:12.5px}
.figures dd:nth-of-type(1){font-size:25px;line-height:1.25;font-weight:600;color:var(--ink);letter-spacing:-.01em}
.bar{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:center;gap:6px 20px;margin-bottom:4px}
.legend{display:flex;flex-wrap:wrap;gap:2px 4px}
button{font:inherit;font-size:13px;color:inherit;background:none;border:1px solid var(--line);border-radius:5px;padding:1px 9px;cursor:pointer}
button:hover{border-color:var(--soft)}
button:focus-visible,#plot:focus-visible{outline:2px solid var(--c0);outline-offset:1px}
.legend button{border-color:transparent;padding:1px 8px 1px 6px}
.legend button[aria-pressed=true]{border-color:var(--soft)}
.legend span{font-size:13px;padding:2px 8px}
.legend i{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:6px;vertical-align:-1px}
.legend small{color:var(--soft);margin-left:5px}
.buttons{display:flex;flex-wrap:wrap;gap:4px}
.buttons span{display:contents}
#chart{position:relative}
#plot{display:block;width:100%;cursor:crosshair;touch-action:none;border-radius:3px}
#plot.drag{cursor:grabbing}
#cross{position:absolute;inset:0;width:100%;pointer-events:none}
.tip{position:absolute;z-index:2;max-width:460px;padding:7px 11px;border:1px solid var(--line);border-radius:6px;background:var(--paper);
box-shadow:0 4px 18px rgb(0 0 0/.16);pointer-events:none;font-size:13px;line-height:1.45;white-space:pre-line}
.tip b{font-weight:600}.tip small{color:var(--soft);font-size:12.5px}
.keys{color:var(--soft);font-size:12.5px;margin:6px 0 0}
kbd{font:inherit;font-size:11.5px;border:1px solid var(--line);border-radius:3px;padding:0 4px}
.tables{display:flex;flex-wrap:wrap;gap:6px 56px;margin-top:20px;align-items:flex-start}
h2{font-size:14px;font-weight:600;margin:20px 0 5px}
table{border-collapse:collapse;font-size:13px}
th,td{padding:3px 0 3px 22px;text-align:right;font-weight:400;white-space:nowrap}
th:first-child,td:first-child{padding-left:0;text-align:left}
thead th{color:var(--soft);font-size:12.5px}
tbody tr{border-top:1px solid var(--grid)}
tbody th{color:inherit}
tr.bound,tr.bound th,tr.part,tr.part th{color:var(--soft)}
tr.part th{padding-left:12px}
td.note{text-align:left;white-space:normal;min-width:130px}
.tables section{min-width:0;max-width:100%;overflow-x:auto}
.wide{overflow-x:auto}
.wide th,.wide td{padding-left:9px}.wide th:first-child{padding-left:0}
.limit{margin:-8px 0 22px;font-size:14px}
.limit b{font-weight:600}.limit span{color:var(--soft)}
.bars{display:grid;grid-template-columns:auto minmax(160px,1fr) auto;gap:3px 10px;align-items:center;font-size:13px}
.bars>div{position:relative;height:15px;background:var(--empty);display:flex}
.bars>div>i{display:block;height:100%}
.bars>div>b{position:absolute;top:-2px;bottom:-2px;width:0;border-left:2px solid var(--ink)}
.bars>div>b.soft{border-left-style:dotted}
.bars>span:nth-child(3n){text-align:right}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));gap:0 48px}
.charts p{color:var(--soft);font-size:12.5px;margin:6px 0 0}
#order{position:relative}
#timelines{position:relative}
#timeline-plot{display:block;width:100%}
#order figure{margin:0 0 14px}
#order figcaption{font-weight:600;font-size:13px;margin:6px 0 2px}
#order canvas{display:block;width:100%}
#order label{font-size:13px;color:var(--soft)}
select{font:inherit;font-size:13px;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:5px;padding:1px 4px}
.buttons{align-items:center}
@media (max-width:640px){th,td{padding-left:12px}h1{font-size:20px;overflow-wrap:anywhere}.figures{gap:12px 28px}select,input{max-width:100%}}
footer{margin-top:34px;color:var(--soft);font-size:12.5px}
@media print{body{padding:0;max-width:none;font-size:11px}.buttons,.screen,#theme,.tip,#cross{display:none!important}
.figures dd:nth-of-type(1){font-size:18px}section{break-inside:avoid}#plot{height:auto!important}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)css";

}  // namespace fairlead::report::html
